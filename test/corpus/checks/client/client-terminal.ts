import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { CommandState } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { ConfirmationAnswer, VerificationState } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer } from "@gennai/testkit/test-server";
import { EditorError } from "../../../../packages/vscode/src/editor/editor-error.ts";
import { type DeclaredShell, declaredShell } from "../../../../packages/vscode/src/terminal/declared-shell.ts";
import { TerminalCommands } from "../../../../packages/vscode/src/terminal/terminal-commands.ts";
import type { Terminals } from "../../../../packages/vscode/src/terminal/terminals.ts";
import { eventsOf, startSession, Watcher } from "../../../e2e/rpc/session-client.ts";
import { type Checks, check } from "../../corpus-case.ts";
import { scriptOf } from "../../tool-call.ts";

const { signal } = new AbortController();

/** `client.ui`: what the extension types into terminals, and what it says about it. */
export const clientTerminalChecks: Checks = {
  "CUI-005": check(async () => {
    for (const command of ["echo a\necho b", "echo a\r", "sleep 1\u0003", "echo \u001b[A", "echo \u202e"]) {
      const { made, failure } = await typed({ command });
      assert.deepEqual([failure, made], ["bad_command", 0], JSON.stringify(command));
    }
  }),
  "CUI-006": check(async () => {
    await using declared = await shell();
    const { shellPath, shellArgs, environment } = declared;
    assert.match(shellPath, /\/bash$/);
    assert.ok(shellArgs.includes("--noprofile") && shellArgs.includes("--init-file"));
    assert.deepEqual([environment["BASH_ENV"], environment["ENV"]], [null, null]);
    await assert.rejects(declaredShell("/nowhere", "linux"), { code: "no_shell" });
    await assert.rejects(declaredShell("/nowhere", "win32"), { code: "no_shell" });
  }),
  "CUI-007": check(async () => {
    await using declared = await shell();
    const { shellPath, shellArgs } = declared;
    const args = [...shellArgs, "-i", "-c", 'echo "flags $-"; echo a!!b'];
    const { stdout } = await promisify(execFile)(shellPath, args);
    assert.match(stdout, /^flags [^H\n]+\na!!b$/m);
  }),
  "CUI-009": check(async () => {
    // Every command has a terminal of its own, and one whose shell does not report itself is typed nothing.
    const busy = await typed({ ready: false });
    assert.deepEqual([busy.failure, busy.typed], ["no_shell_integration", []]);
    const twice = await typed({ times: 2 });
    assert.deepEqual([twice.failure, twice.made, twice.typed], ["ok", 2, ["t1 make", "t2 make"]]);
  }),
  "CUI-010": check(async () => {
    for (const directory of ["/somewhere/else", undefined]) {
      const { failure, typed: keys } = await typed({ directory: () => directory });
      assert.deepEqual([failure, keys], ["wrong_directory", []]);
    }
    const { failure, made } = await typed({ cwd: "/" });
    assert.deepEqual([failure, made], ["outside_workspace", 0]);
  }),
  "CUI-012": check(async () => {
    const result = await terminalResult({ status: "SENT", state: CommandState.UNOBSERVED });
    assert.equal(result.exitCode, undefined);
    assert.notEqual(result.verification, VerificationState.VERIFIED);
    assert.match(result.output, /its result is unknown/);
  }),
  "CUI-013": check(async () => {
    const { failure, message } = await typed({ ready: false });
    assert.equal(failure, "no_shell_integration");
    assert.match(message, /nothing was typed.*Bash on the server/s);
    const result = await terminalResult({ status: "ERROR", error: message });
    assert.match(result.output + result.error, /Bash on the server/);
  }),
};

interface Typing {
  readonly command?: string;
  readonly cwd?: string;
  readonly ready?: boolean;
  /** Where the shell says it is. */
  readonly directory?: (asked: string) => string | undefined;
  readonly times?: number;
}

/** What the extension types into terminals for a command, and how it ended. */
async function typed({ command = "make", cwd = "", ready = true, directory = (asked) => asked, times = 1 }: Typing) {
  await using workspace = await temporaryDirectory();
  const keys: string[] = [];
  let made = 0;
  const terminals: Terminals = {
    create: async (options) => {
      const id = `t${++made}`;
      return {
        id,
        ready: async () => ready,
        directory: async () => directory(options.cwd),
        execute: (text) => {
          keys.push(`${id} ${text}`);
          return { output: nothing(), begun: Promise.resolve(), end: Promise.resolve({ type: "exited", exitCode: 0 }) };
        },
        show: () => undefined,
        interrupt: () => undefined,
        kill: async () => undefined,
        close: () => undefined,
      };
    },
  };
  await using commands = new TerminalCommands({ terminals, workspace: workspace.root });
  const request = { command, cwd, terminalName: "Gennai Agent", reveal: undefined };
  const run = async () => {
    for (let time = 0; time < times; time += 1) await commands.run(request, { signal, onOutput: () => undefined });
  };
  const error: unknown = await run().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  const failure = error instanceof EditorError ? error.code : error === undefined ? "ok" : "another error";
  return { made, typed: keys, failure, message: error instanceof Error ? error.message : "" };
}

async function* nothing(): AsyncGenerator<string, void> {}

/** The agent's shell, over an editor that has no more than its integration script. */
async function shell(): Promise<DeclaredShell & AsyncDisposable> {
  const editor = await temporaryDirectory({
    "out/vs/workbench/contrib/terminal/common/scripts/shellIntegration-bash.sh": "",
  });
  return {
    ...(await declaredShell(editor.root, "linux")),
    [Symbol.asyncDispose]: () => editor[Symbol.asyncDispose](),
  };
}

/** The result of a command in a terminal, as the model hears it, where the editor answers so. */
async function terminalResult(answer: {
  readonly status: string;
  readonly state?: CommandState;
  readonly error?: string;
}) {
  await using server = await startTestServer({
    script: [scriptOf([{ tool: "RunInTerminal", args: { command: "make" } }])],
  });
  const sessionId = await startSession(server, { interactive: true });
  await using editor = await Watcher.attach(server, sessionId);
  await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "a" });
  const { requestId, actionSha256 } = await editor.next("confirmationRequest");
  const yes = { requestId, actionSha256, answer: ConfirmationAnswer.YES };
  await editor.submit({ case: "confirmationResponse", value: yes });
  const command = await editor.next("executeCommandRequest");
  await editor.submit({ case: "commandDispatchResponse", value: { requestId: command.requestId, ...answer } });
  await editor.end();
  const result = eventsOf(editor.events, "toolResult").at(-1);
  assert.ok(result, "the turn made no call");
  return result;
}
