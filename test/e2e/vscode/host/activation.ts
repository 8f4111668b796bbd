import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import * as vscode from "vscode";
import type { GitExtensionExports } from "../../../../packages/vscode/src/git/git-extension-api.ts";
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

function extension(): vscode.Extension<unknown> {
  const found = vscode.extensions.getExtension(identifier);
  assert.ok(found, `${identifier} is installed`);
  return found;
}

/** Resolves when this extension host has little to do: no other extension's start counts as ours. */
async function othersHaveStarted(): Promise<void> {
  for (let waited = 0; waited < 60; waited += 1) {
    const before = process.cpuUsage();
    await pause(1000);
    const { user, system } = process.cpuUsage(before);
    if (user + system < 50_000) return;
  }
}

hostTest("the extension sleeps until it is needed", async () => {
  await othersHaveStarted();
  assert.equal(extension().isActive, false);
});

hostTest("the extension activates when it is needed", async () => {
  const before = process.cpuUsage();
  await extension().activate();
  const { user, system } = process.cpuUsage(before);
  assert.ok(extension().isActive);
  return `in ${Math.round((user + system) / 1000)} ms of the processor`;
});

hostTest("a window where nothing happens asks git for nothing", async () => {
  await vscode.commands.executeCommand("gennai.openRepl");
  const git = vscode.extensions.getExtension<GitExtensionExports>("vscode.git");
  assert.ok(git, "the Git extension is there");
  const api = (await git.activate()).getAPI(1);
  const root = vscode.Uri.file(workspaceRoot());
  const repository = api.getRepository(root) ?? (await api.openRepository(root));
  assert.ok(repository, "the workspace is a repository");
  // What starting up makes it look at.
  await pause(5000);
  let looks = 0;
  const listener = repository.state.onDidChange(() => {
    looks += 1;
  });
  await repository.status();
  await pause(3000);
  listener.dispose();
  assert.ok(looks >= 1 && looks <= 3, `git was looked at ${looks} times`);
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
  assert.deepEqual(readdirSync(workspaceRoot()).sort(), [".git", "README.md", "docs", "src"]);
});
