import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "vitest";
import { serveGennai } from "../process/serve-gennai.ts";
import { openPage } from "./page/open-page.ts";
import { pictured } from "./page/pictured.ts";

const sample = fileURLToPath(new URL("../../../examples/sample-workspace", import.meta.url));

test("the page that `npm start` serves: a conversation, and a review", async () => {
  await using gennai = await serveGennai({ files: filesOf(sample) });
  await gennai.workspace.git("checkout", "--quiet", "-b", "ai-agent/american-spelling");
  await using on = await openPage(gennai, { viewport: { width: 1040, height: 860 } });
  const { page, repl } = on;
  await repl.send("replace colour with color in src/**/*.js");
  await repl.see(/files changed/);
  await repl.idle();
  // Where nothing shows a hover; the conversation stays at its end by itself.
  await page.mouse.move(20, 500);
  await pictured(page, "chat");

  await repl.useEditingMode("proposal");
  await repl.send("replace brightness with luminance in src/**/*.js");
  await repl.idle();
  await repl.openPanel("Review");
  const hunks = repl.root.locator("article.hunk");
  await hunks.first().waitFor();
  await hunks.first().getByRole("button", { name: "Keep" }).click();
  await page.setViewportSize({ width: 1040, height: 720 });
  await pictured(page, "review");
});

function filesOf(root: string): Record<string, string> {
  const paths = readdirSync(root, { recursive: true, encoding: "utf8" });
  const files = paths.filter((path) => statSync(join(root, path)).isFile());
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(root, path), "utf8")]));
}
