import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryRepository } from "@gennai/testkit/temporary-repository";
import { beforeAll, expect, inject, test } from "vitest";
import { ReplDriver } from "../../browser/page/repl-driver.ts";
import { tell } from "../fixtures/figures.ts";
import { runningServers } from "../workbench/code-server/code-server.ts";
import { runCommand } from "../workbench/palette.ts";
import { patience } from "../workbench/patience.ts";
import { pictured, picturedForWalkthrough } from "../workbench/pictured.ts";
import { openRepl } from "../workbench/repl-in-workbench.ts";
import { shows } from "../workbench/repl-sight.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";
import { stepsDone, walkthrough, walkthroughTab } from "../workbench/walkthrough.ts";
import { openWebview } from "../workbench/webview.ts";

const began = performance.now();
/** Seconds. */
const past = () => (performance.now() - began) / 1000;
let installed: number;

/** Nothing is installed but the package: each test goes on where the one before it ended. */
const workbench = useWorkbench(() => ({
  // A release tries its own.
  vsix: process.env["GENNAI_TEST_VSIX"] ?? inject("vsix"),
  machineSettings: { "workbench.welcomePage.walkthroughs.openOnInstall": true },
  files: { "colours.txt": "colour\n" },
  builtIn: "all",
}));
beforeAll(() => {
  installed = past();
});

test("the packaged extension installs where none was, and one types at once", async () => {
  const { page } = workbench();
  await page.getByRole("tab", { name: /^Gennai/ }).click();
  const repl = new ReplDriver(await workbench().webview("REPL"));
  await walkthrough(page).waitFor();
  // The walkthrough left the prompt the focus.
  await expect
    .poll(() => repl.prompt.evaluate((box) => box === document.activeElement), { timeout: patience })
    .toBe(true);
  await page.keyboard.type("replace colour with color in colours.txt");
  await page.keyboard.press("Enter");
});

test("where nothing but the package was installed, the first prompt starts the server and changes a file", async () => {
  const { server, workspace } = workbench();
  await new ReplDriver(await workbench().webview("REPL")).answer("yes");
  await expect.poll(() => workspace.read("colours.txt"), { timeout: patience }).toBe("color\n");
  tell({
    name: "from the VSIX to the first changed file, installing included, 2 clicks",
    unit: "s",
    figure: past(),
    target: { type: "most", value: 30 },
  });
  process.stdout.write(`of these, until the window with it was drawn: ${installed.toFixed(1)} s\n`);
  await new ReplDriver(await workbench().webview("REPL")).idle();
  await picturedForWalkthrough(workbench());
  await pictured(workbench(), "first-answer");
  const [running, ...others] = await runningServers(server.gennaiState);
  expect(others).toEqual([]);
  expect(running?.shared).toEqual({ commands: "auto", protectedBranches: [] });
  const program = readFileSync(`/proc/${running?.pid}/cmdline`, "utf8").split("\0");
  expect(program[0]).toBe(inject("codeServerProgram").node);
  expect(program[1]).toMatch(/\/extensions\/gennai\.[^/]+\/dist\/server\/main\.mjs$/);
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

test("a window on another folder shares it, each sees its own folder, and the walkthrough opens once", async () => {
  const { server } = workbench();
  await using elsewhere = await temporaryRepository({ "other.txt": "colour too\n" });
  await using second = await workbench().another({ folder: elsewhere.root });
  await runCommand(second, "Gennai: Open REPL");
  const repl = new ReplDriver(await openWebview(second, "REPL"));
  await repl.useEditingMode("proposal");
  await repl.send("find colour in **/*.txt");
  await shows(repl, /other\.txt/);
  await repl.idle();
  expect(await repl.root.getByText("colours.txt").count()).toBe(0);
  expect(await runningServers(server.gennaiState)).toHaveLength(1);
  expect(await walkthroughTab(second).count()).toBe(0);
});

test("the steps of the walkthrough, which opened by itself, are done by doing, and only those", async () => {
  const { page } = workbench();
  await walkthroughTab(page).click();
  await expect
    .poll(() => stepsDone(page), { timeout: patience })
    // The branch was a question that was answered.
    .toEqual({ server: true, model: false, prompt: true, review: false, govern: true });
  const repl = await openRepl(workbench());
  const changed = repl.root.getByRole("article", { name: "Changed files" });
  await changed.getByRole("button", { name: "Open diff of colours.txt" }).click();
  await page.getByRole("tab", { name: "colours.txt (changed by Gennai)" }).waitFor();
  await workbench().runCommand("Gennai: Emergency: Read-Only");
  // The diff took the place of its tab.
  await workbench().runCommand("Welcome: Open Walkthrough...");
  await workbench().pick("Get started with Gennai");
  await expect
    .poll(() => stepsDone(page), { timeout: patience })
    .toEqual({ server: true, model: false, prompt: true, review: true, govern: true });
  await workbench().runCommand("Notifications: Clear All Notifications");
  await pictured(workbench(), "walkthrough");
});

test("its page among the extensions has no picture: VS Code loads those of the web alone", () => {
  const [readme = "there is none"] = readdirSync(inject("extension")).filter((name) => /^readme\.md$/i.test(name));
  const text = readFileSync(join(inject("extension"), readme), "utf8");
  expect(text).toContain("# Gennai for VS Code");
  expect(text).not.toMatch(/!\[|<img/);
});
