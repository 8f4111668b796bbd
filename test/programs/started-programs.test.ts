import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const repository = fileURLToPath(new URL("../..", import.meta.url));

/** Each way to start a program: Node's, those of libraries, and the editor's. */
const starts =
  /["'](?:node:)?(?:child_process|cluster)["']|start-process(?:\.ts)?["']|from ["'](?:execa|cross-spawn|node-pty|simple-git|open|tinyexec)["']|client\/stdio(?:\.js)?["']|process\.(?:execve|binding|dlopen)\b|\b(?:createTerminal|ShellExecution|ProcessExecution|CustomExecution)\b|["']vscode\.git["']/;

/**
 * Every file that can start a program. Over data that a command or a stranger may have written, a program runs only in the
 * sandbox; each entry says why that is so. A new line needs a convincing reason.
 */
const allowed: Readonly<Record<string, string>> = {
  "machine/src/process/start-process.ts":
    "how all the others start one, so that a failed start never ends this program",
  "git/src/run/start-git.ts": "the one door of git: sandboxed, or with every setting overridden that names a program",
  "git/src/run/machine-git.ts": "git --version, over nobody's files",
  "git/src/run/user-git-configuration.ts": "git config --global, over the user's own files, in no repository",
  "shell/src/open-sandbox.ts": "bubblewrap with `true` in it, once, to see whether it works",
  "stage/src/mount/keeper-process.ts": "unshare and mount, which look at no file of the workspace",
  "stage/src/mount/session-network.ts": "bubblewrap with a shell in it that runs nothing, over no workspace",
  "shell/src/background/mirrored-ports.ts":
    "cat in a session's network, of what the system says of its sockets, over no workspace",
  "shell/src/background/reach-inside.ts":
    "a program of ours in a session's network, which copies bytes between two sockets",
  "egress/src/network/listen-inside.ts":
    "a program of ours in a session's network, which opens sockets and hands them over",
  "egress/src/keys/login/run-user-program.ts":
    "the user's own git and ssh over the user's own settings, in no repository, to learn how the user logs in",
  "stage/src/transaction/whiteout.ts": "mknod, in a private directory of ours",
  "stage/src/commit/make-trees-durable.ts": "sync, which takes a path and reads nothing",
  "machine/src/process/run-command.ts": "commands that the gate admitted: sandboxed, or because a person said yes",
  "machine/src/process/output-pipe.ts": "mkfifo, in a private directory of ours, for the output of commands",
  "machine/src/process/spawn-helper.ts": "the helper in which those commands' shells wait",
  "machine/src/workspace/search/ripgrep.ts": "reads text and starts nothing: --no-config, no --pre, no archives",
  "sessions/src/rules/run-hook.ts": "the user's own programs, from the user's configuration or accepted word by word",
  "sessions/src/mcp/program-transport.ts": "MCP programs that the user configured or accepted word by word",
  "server/src/elsewhere/send-message.ts":
    "the mail program that the user named in people.yaml, with a message on its input",
  "client/src/node/start-server.ts":
    "the server itself, for a program that imports the client and names or installs it",
  "models/src/catalogue/model-keys.ts": "the system's keychain; its arguments are names of ours",
  "cli/src/client/run-in-terminal.ts":
    "commands that the gate admitted, in the sandbox of the machine that holds the files",
  "shell/src/machine-checks.ts": "ripgrep --version, over nobody's files",
  "cli/src/commands/guard/agent-program.ts": "an agent of the user's search path, which says its version",
  "cli/src/commands/guard/guard-commands.ts": "our own hook, as another agent starts it, to see whether it answers",
  "cli/src/commands/guard/guard-plugin.ts":
    "text of a plugin that another agent loads: there it starts our own hook, by its whole path, with none of the agent's words",
  "cli/src/screen/in-pager.ts": "the user's own pager, at the user's word, with text on its input",
  "cli/src/commands/set-key.ts": "the system's keychain, at the user's word; its arguments are names of ours",
  "cli/src/terminal/edit-text.ts": "the user's own editor, at the user's word, on a private copy",
  "cli/src/terminal/open-in-browser.ts": "the system's browser, with a private file of ours",
  "acp/src/editor/acp-editor.ts": "commands that the gate admitted, in the terminal of the person's editor",
  "vscode/src/git/vscode-git.ts": "asks the editor's own git, which runs over the opened folder anyway",
  "vscode/src/git/git-program.ts":
    "the editor's own git, at its user's click on Stage or Commit, as the editor runs it for the same button",
  "vscode/src/server/launch/terminal-server.ts": "gennai itself, by the path in the user's settings",
  "vscode/src/server/launch/brought-server.ts":
    "the server that the extension brings, on a Node that was tried, in the home",
  "vscode/src/server/launch/node-program.ts":
    "Node with a few lines of ours, from the user's settings or out of any folder, in the home",
  "vscode/src/terminal/vscode-terminals.ts": "commands that the gate admitted, where the user sees them",
  "vscode/src/terminal/background-terminals.ts": "nothing: a terminal without a program, which shows text of a server",
  "vscode/src/terminal/end-processes.ts": "ps, which reads no file of the workspace",
};

/** A type starts nothing. */
function codeOf(source: string): string {
  return source.replace(/^import type .*$/gm, "");
}

test("programs are started in these files only, each for a reason", () => {
  const found = globSync("packages/*/src/**/*.{ts,tsx,mts,js,mjs,cjs}", { cwd: repository })
    .filter((file) => !file.startsWith("packages/testkit/"))
    .filter((file) => starts.test(codeOf(readFileSync(`${repository}/${file}`, "utf8"))))
    .map((file) => file.replace(/^packages\//, ""));
  expect(found.toSorted()).toEqual(Object.keys(allowed).toSorted());
  for (const [file, reason] of Object.entries(allowed)) expect(reason.length, file).toBeGreaterThan(20);
});

test("no spawn of node ends this program when it fails", () => {
  const own = globSync("packages/!(vscode|repl|testkit|ledger-page)/src/**/*.ts", {
    cwd: repository,
  })
    .filter((file) =>
      /import [^;]*\bspawn\b[^;]* from "node:child_process"/.test(readFileSync(`${repository}/${file}`, "utf8")),
    )
    // Text of a plugin for another program.
    .filter((file) => !file.endsWith("guard-plugin.ts"));
  expect(own.toSorted()).toEqual([
    // Listens to `error` in the same step, so that a failed start is an answer.
    "packages/client/src/node/start-server.ts",
    "packages/machine/src/process/start-process.ts",
  ]);
});

test("each way to start a program is noticed", () => {
  for (const source of [
    'import { spawn } from "node:child_process";',
    "const { exec } = await import('child_process');",
    'import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";',
    'import pty from "node-pty";',
    "vscode.window.createTerminal({ shellPath })",
    "process.execve(program, args)",
  ]) {
    expect(source).toMatch(starts);
  }
  expect('import { join } from "node:path";').not.toMatch(starts);
});
