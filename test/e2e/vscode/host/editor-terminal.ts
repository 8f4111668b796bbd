import assert from "node:assert/strict";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import * as vscode from "vscode";
import { editorScene } from "./editor-scene.ts";
import { hostTest } from "./host-test.ts";

const own = () => vscode.window.terminals.filter(({ name }) => name === "Gennai Agent");

hostTest("the terminal runs bash without the user's start files and without history expansion", async () => {
  await using scene = await editorScene();
  const options = { signal: new AbortController().signal, onOutput: () => {} };
  const request = { command: 'echo "$0 $-"; alias', cwd: "", terminalName: "Gennai Agent", reveal: undefined };
  const run = await scene.editor.runCommand(request, options);
  assert.match(run.output, /^\S*bash [^H\n]*\n$/);
  assert.notEqual(run.terminalId, "");
});

hostTest("the terminal of the last command stays, those before it go", async () => {
  await using scene = await editorScene();
  const options = { signal: new AbortController().signal, onOutput: () => {} };
  for (const command of ["echo one", "echo two"]) {
    await scene.editor.runCommand({ command, cwd: "", terminalName: "Gennai Agent", reveal: undefined }, options);
  }
  await pause(500);
  assert.equal(own().length, 1);
});

hostTest("lines, keys and what nobody sees are not typed", async () => {
  await using scene = await editorScene();
  const options = { signal: new AbortController().signal, onOutput: () => {} };
  for (const command of ["echo a\necho b", "echo a\r", "echo \u0003", "echo \u001b[A", "echo \u202e", " "]) {
    const request = { command, cwd: "", terminalName: "Gennai Agent", reveal: undefined };
    await assert.rejects(scene.editor.runCommand(request, options), { code: "bad_command" });
  }
  assert.equal(own().length, 0);
});

hostTest("without shell integration nothing is typed, and the model is told what to do", async () => {
  await using scene = await editorScene();
  const settings = vscode.workspace.getConfiguration("terminal.integrated");
  const options = { signal: new AbortController().signal, onOutput: () => {} };
  // The editor's script for bash does nothing where it believes to have run already.
  await settings.update("env.linux", { VSCODE_SHELL_INTEGRATION: "1" }, vscode.ConfigurationTarget.Global);
  try {
    const request = { command: "touch made", cwd: "", terminalName: "Gennai Agent", reveal: undefined };
    await assert.rejects(scene.editor.runCommand(request, options), {
      code: "no_shell_integration",
      message: /nothing was typed.*Run the command with Bash on the server/s,
    });
    await assert.rejects(access(join(scene.root, "made")), { code: "ENOENT" });
  } finally {
    await settings.update("env.linux", undefined, vscode.ConfigurationTarget.Global);
  }
});

hostTest("a terminal that its user closes leaves the result unknown", async () => {
  await using scene = await editorScene();
  let output = "";
  const options = { signal: new AbortController().signal, onOutput: (text: string) => void (output += text) };
  const request = { command: "echo started; sleep 30", cwd: "", terminalName: "Gennai Agent", reveal: undefined };
  const running = scene.editor.runCommand(request, options);
  for (let waited = 0; !output.includes("started") && waited < 10_000; waited += 50) await pause(50);
  for (const terminal of own()) terminal.dispose();
  const run = await running;
  assert.deepEqual([run.state, run.exitCode], ["unobserved", undefined]);
});

hostTest("a command that is not complete ends with its terminal, and is not claimed to have run", async () => {
  await using scene = await editorScene();
  const options = { signal: new AbortController().signal, onOutput: () => {} };
  const request = { command: "echo 'open", cwd: "", terminalName: "Gennai Agent", reveal: undefined };
  await assert.rejects(scene.editor.runCommand(request, options), {
    code: "not_observed",
    message: /may not be closed/,
  });
});
