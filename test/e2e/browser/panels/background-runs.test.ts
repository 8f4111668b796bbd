import { writeFileSync } from "node:fs";
import { listBackgroundRuns } from "@gennai/client/background-runs";
import { call } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { serveGennai } from "../../process/serve-gennai.ts";
import { openPage } from "../page/open-page.ts";
import { takeScreenshot } from "../page/screenshot.ts";

/** Runs until the file `end` is there, as the user saves it. */
const untilEnd = `import { existsSync } from "node:fs"; setInterval(() => existsSync("end") && process.exit(), 50);\n`;

test("what runs in the background is listed while it runs, and a person stops it", async () => {
  const background = (command: string) => call("Bash", { command, run_in_background: true });
  await using gennai = await serveGennai({
    files: { "wait.mjs": untilEnd },
    script: [{ steps: [background("node wait.mjs one"), background("exec sleep 1000"), { text: ["Both run."] }] }],
    args: ["--commands", "staged"],
  });
  await using on = await openPage(gennai);
  await on.repl.send("start both");
  await on.repl.see("Both run.");
  const strip = on.repl.root.getByRole("list", { name: "In the background" });
  const runs = strip.getByRole("listitem");
  await expect
    .poll(() => runs.allTextContents())
    .toEqual([expect.stringContaining("node wait.mjs one"), expect.stringContaining("exec sleep 1000")]);
  await takeScreenshot(on.page, "background runs");

  await strip.getByRole("button", { name: "Stop b2" }).click();
  await expect.poll(() => runs.allTextContents()).toEqual([expect.stringContaining("node wait.mjs one")]);
  // One that ends by itself goes as well, and with the last one the list.
  writeFileSync(gennai.workspace.path("end"), "");
  await strip.waitFor({ state: "detached" });

  const { sessions } = await gennai.client.listSessions({});
  const ended = await listBackgroundRuns(gennai.client, sessions[0]?.sessionId ?? "");
  expect(ended.map(({ isRunning, end }) => [isRunning, end])).toEqual([
    [false, "exit code 0"],
    [false, expect.stringContaining("stopped by")],
  ]);
  expect(on.complaints).toEqual([]);
});
