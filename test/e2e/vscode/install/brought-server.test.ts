import { readFileSync } from "node:fs";
import { temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, inject, test } from "vitest";
import { ReplDriver } from "../../browser/page/repl-driver.ts";
import { runningServers } from "../workbench/code-server/code-server.ts";
import { runCommand } from "../workbench/palette.ts";
import { patience } from "../workbench/patience.ts";
import { pictured } from "../workbench/pictured.ts";
import { openRepl } from "../workbench/repl-in-workbench.ts";
import { shows } from "../workbench/repl-sight.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";
import { openWebview } from "../workbench/webview.ts";

const workbench = useWorkbench(() => ({
  // A release tries its own.
  vsix: process.env["GENNAI_TEST_VSIX"] ?? inject("vsix"),
  settings: { "gennai.editingMode": "proposal" },
  files: { "colours.txt": "colour\n" },
}));

test("where nothing but the package was installed, the first prompt starts the server and is answered", async () => {
  const began = performance.now();
  const repl = await openRepl(workbench());
  await repl.send("find colour in **/*.txt");
  await shows(repl, /colours\.txt/);
  await repl.idle();
  process.stdout.write(`from the open window to the first answer: ${Math.round(performance.now() - began)} ms\n`);
  const { server } = workbench();
  const [running, ...others] = await runningServers(server.gennaiState);
  expect(others).toEqual([]);
  expect(running?.shared).toEqual({ sandbox: "auto", stages: "auto", protectedBranches: [] });
  const program = readFileSync(`/proc/${running?.pid}/cmdline`, "utf8").split("\0");
  expect(program[0]).toBe(inject("codeServerProgram").node);
  expect(program[1]).toMatch(/\/extensions\/gennai\.[^/]+\/dist\/server\/main\.mjs$/);
  await pictured(workbench(), "first-answer");
});

test("a server that was killed is started again by itself, and the session goes on", async () => {
  const { server } = workbench();
  const [before] = await runningServers(server.gennaiState);
  if (before === undefined) throw new Error("No server runs.");
  const repl = await openRepl(workbench());
  process.kill(before.pid, "SIGKILL");
  const isBack = async () => (await runningServers(server.gennaiState)).some(({ pid }) => pid !== before.pid);
  await expect.poll(isBack, { timeout: patience }).toBe(true);
  await repl.send("find Test in **/*.md");
  await shows(repl, /README\.md:1/);
  await repl.idle();
  await shows(repl, /colours\.txt/);
  const after = await runningServers(server.gennaiState);
  expect(after).toHaveLength(1);
  expect(after[0]?.pid).not.toBe(before.pid);
});

test("a window on another folder shares it, and each sees its own folder", async () => {
  const { page, server } = workbench();
  await using elsewhere = await temporaryRepository({ "other.txt": "colour too\n" });
  const second = await page.context().newPage();
  const address = new URL(page.url());
  address.searchParams.set("folder", elsewhere.root);
  await second.goto(address.href);
  await second.locator(".monaco-workbench .statusbar").waitFor();
  await runCommand(second, "Gennai: Open REPL");
  const repl = new ReplDriver(await openWebview(second, "REPL"));
  await repl.send("find colour in **/*.txt");
  await shows(repl, /other\.txt/);
  await repl.idle();
  expect(await repl.root.getByText("colours.txt").count()).toBe(0);
  expect(await runningServers(server.gennaiState)).toHaveLength(1);
  await second.close();
});
