import { existsSync } from "node:fs";
import { processesRunning } from "@gennai/testkit/processes";
import { call } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { serveGennai } from "../../process/serve-gennai.ts";
import { openPage } from "../page/open-page.ts";
import { takeScreenshot } from "../page/screenshot.ts";

const sleep = "sleep 86531";
const long =
  "for number in $(seq 200); do echo line $number of a log that is wider than the card; done; " +
  `echo 'a very long argument that nobody would want to see cut away at its side' > kept.txt; ${sleep}`;

test("a command is seen whole, watched and stopped", async () => {
  const bash = (command: string) => call("Bash", { command, description: "Try it" });
  await using gennai = await serveGennai({
    script: [{ steps: [bash(long), bash("echo after; exit 3"), { text: ["One was stopped."] }] }],
    args: ["--commands", "staged"],
  });
  await using on = await openPage(gennai);
  await on.page.setViewportSize({ width: 280, height: 700 });
  await on.repl.send("try it");
  const first = on.repl.root.locator(".tool").first();
  await first.getByText("line 200 of a log").waitFor();
  await expect.poll(() => processesRunning(sleep)).toHaveLength(1);
  const text = first.locator(".command-text");
  expect(await text.textContent()).toBe(long);
  // Nothing of it is beyond the card's side.
  expect(await text.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
  await takeScreenshot(on.page, "command card running");

  await first.getByRole("button", { name: "Stop Bash" }).click();
  await on.repl.see("One was stopped.");
  await first.getByText("The user stopped this call").waitFor();
  expect(processesRunning(sleep)).toEqual([]);
  expect(existsSync(gennai.workspace.path("kept.txt"))).toBe(false);
  await on.repl.root.locator(".tool").nth(1).getByText("exit 3", { exact: true }).waitFor();
  await takeScreenshot(on.page, "command card ended");
  await first.getByRole("button", { name: "Full output" }).click();
  expect(await first.locator(".tool-body .output").textContent()).toContain("line 1 of a log");
  expect(on.complaints).toEqual([]);
});
