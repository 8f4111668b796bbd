import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import * as vscode from "vscode";
import { hostTest } from "./host-test.ts";
import { workspaceRoot } from "./workspace.ts";

interface Manifest {
  readonly contributes: {
    readonly commands: readonly { readonly command: string }[];
    readonly views: Readonly<Record<string, readonly { readonly id: string }[]>>;
    readonly configuration: { readonly properties: Readonly<Record<string, { readonly default: unknown }>> };
  };
}

const identifier = "gennai.gennai";
/** Milliseconds; ten times what is wanted, for a machine that does much else at the same time. */
const activationLimit = 1000;

function extension(): vscode.Extension<unknown> {
  const found = vscode.extensions.getExtension(identifier);
  assert.ok(found, `${identifier} is installed`);
  return found;
}

hostTest("the extension sleeps until it is needed", () => {
  assert.equal(extension().isActive, false);
});

hostTest("the extension activates quickly", async () => {
  const began = performance.now();
  await extension().activate();
  const milliseconds = performance.now() - began;
  console.log(`activation took ${Math.round(milliseconds)} ms`);
  assert.ok(extension().isActive);
  assert.ok(milliseconds < activationLimit, `${milliseconds} ms`);
});

hostTest("every command of the manifest is there, and no other", async () => {
  const { contributes } = extension().packageJSON as Manifest;
  const declared = contributes.commands.map(({ command }) => command).sort();
  const views = Object.values(contributes.views).flatMap((group) => group.map(({ id }) => id));
  // VS Code makes some for each view and its container, e.g. `gennai.repl.focus`.
  const ofViews = (command: string) => views.some((id) => command.startsWith(`${id}.`) && !declared.includes(command));
  const commands = await vscode.commands.getCommands(true);
  const there = commands.filter((command) => command.startsWith("gennai.") && !ofViews(command)).sort();
  assert.deepEqual(there, declared);
});

hostTest("settings have the defaults of the manifest", () => {
  const { contributes } = extension().packageJSON as Manifest;
  for (const [key, property] of Object.entries(contributes.configuration.properties)) {
    assert.deepEqual(vscode.workspace.getConfiguration().get(key), property.default, key);
  }
});

hostTest("activating writes nothing into the workspace", () => {
  assert.deepEqual(readdirSync(workspaceRoot()).sort(), [".git", "README.md"]);
});
