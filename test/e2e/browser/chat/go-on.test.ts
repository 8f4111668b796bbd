import { existsSync } from "node:fs";
import { bash } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { type ServedGennai, serveGennai } from "../../process/serve-gennai.ts";
import { openPage, pageLink } from "../page/open-page.ts";
import { takeScreenshot } from "../page/screenshot.ts";

const files = { "old.txt": "old\n" };

test("a question that waited when the server was killed is asked again by a click, and what it asked runs once", async () => {
  await using gennai = await serveGennai({
    files,
    script: [{ steps: [bash("rm old.txt && echo ran >> runs.txt"), { text: ["It is gone."] }] }],
  });
  await using on = await openPage(gennai);
  await on.repl.send("delete it");
  await on.repl.question.waitFor();
  await killAndStart(gennai, on);
  await on.repl.see("The server went away while this waited for an answer");
  expect(await on.repl.question.count()).toBe(0);
  const askAgain = on.page.getByRole("button", { name: "Ask again" });
  await takeScreenshot(on.page, "a question that waited when the server was killed");
  await askAgain.click();
  await on.repl.question.waitFor();
  expect(existsSync(gennai.workspace.path("old.txt"))).toBe(true);
  await on.repl.answer("yes");
  await on.repl.see("It is gone.");
  await on.repl.idle();
  expect(await gennai.workspace.read("runs.txt")).toBe("ran\n");
  expect(existsSync(gennai.workspace.path("old.txt"))).toBe(false);
  await askAgain.waitFor({ state: "detached" });
});

test("a turn in which the server was killed goes on by a click, with what it had done", async () => {
  await using gennai = await serveGennai({
    files,
    script: [
      {
        steps: [
          { tool: { name: "Read", args: { file_path: "old.txt" } } },
          { text: ["I have read it, and write."] },
          { tool: { name: "Edit", args: { file_path: "old.txt", old_string: "old", new_string: "new" } } },
          { delay_ms: 3_000 },
          { text: ["Written."] },
        ],
      },
    ],
  });
  await using on = await openPage(gennai);
  await on.repl.send("change it");
  await expect.poll(() => gennai.workspace.read("old.txt")).toBe("new\n");
  await killAndStart(gennai, on);
  await on.repl.see("The server went away during this turn.");
  await takeScreenshot(on.page, "a turn in which the server was killed");
  await on.page.getByRole("button", { name: "Go on", exact: true }).click();
  await on.repl.see("Written.");
  await on.repl.idle();
  expect((await on.repl.toolCalls()).filter((call) => call.startsWith("Edit"))).toHaveLength(1);
  expect(await gennai.workspace.read("old.txt")).toBe("new\n");
});

/** The page stays as it is meanwhile, and is let in again by a new link. */
async function killAndStart(gennai: ServedGennai, { page }: Awaited<ReturnType<typeof openPage>>): Promise<void> {
  await gennai.kill();
  await page.getByText("No connection to the server").waitFor();
  await gennai.restart();
  const door = page.getByRole("dialog", { name: "This page needs a link" });
  await door.waitFor();
  await page.goto(await pageLink(gennai));
  await door.waitFor({ state: "detached" });
}
