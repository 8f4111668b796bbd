import { analyseCommand } from "@gennai/governance/command/analyse-command";
import type { Effect, WorkspacePath } from "@gennai/governance/effect";
import { agreedControl } from "@gennai/governance/policies/agreed-control";
import type { Tool, ToolOutcome } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { type CommandRun, type HeldDirectory, holdDirectory } from "@gennai/machine/process/run-command";
import { runShellCommand, type ShellSurroundings } from "@gennai/machine/shell/shell-runner";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import { z } from "zod";
import { pathName } from "../path-name.ts";
import { commandOperands } from "./command-operands.ts";
import { withNotes } from "./command-output.ts";

const defaultTimeoutMs = 120_000;
const maxTimeoutMs = 600_000;

const parameters = z.strictObject({
  command: z
    .string()
    .min(1, "command must not be empty.")
    .max(30_000, "command is longer than 30,000 characters; write a script file and run that.")
    .refine((command) => !command.includes("\0"), "command must not hold a NUL character."),
  description: z.string().max(500).optional().describe("What it is for, in a few words."),
  timeout_ms: z
    .int()
    .min(1, "timeout_ms must be at least 1.")
    .max(maxTimeoutMs, "timeout_ms must be at most 600000.")
    .optional()
    .describe("Milliseconds until it is ended; 120000 by default."),
  cwd: z.string().min(1).optional().describe("Directory to run in; the workspace by default."),
});

type BashArguments = z.infer<typeof parameters>;

export interface BashPorts extends Omit<ShellSurroundings, "workspaceRoot"> {
  readonly workspace: Workspace;
  /** The user's home directory, for `~` in commands. */
  readonly home: string;
}

/** Runs a shell command on the server and captures what it prints. */
export function bashTool(ports: BashPorts): Tool<BashArguments> {
  const directories = new WeakMap<Effect, HeldDirectory | undefined>();
  return {
    name: "Bash",
    description:
      "Runs a shell command without input and returns its output and exit code. " +
      "Processes it leaves in the background are ended with it.",
    parameters,
    access: "change",

    async analyse(args) {
      const cwd = await ports.workspace.resolve(args.cwd ?? ".");
      const { root } = ports.workspace;
      const command = analyseCommand(args.command, { cwd: cwd.absolute, home: ports.home, workspace: root });
      const effect: Effect = { type: "exec", command, cwd, where: "server" };
      const { client } = ports.workspace;
      if (client !== undefined && cwd.inside) await refuseNoDirectory(ports.workspace, cwd);
      const directory = client === undefined && cwd.inside ? heldDirectory(cwd.absolute, pathName(cwd)) : undefined;
      directories.set(effect, directory);
      return {
        statement: `Run \`${args.command}\``,
        effects: [effect],
        ...(command.readsOnly ? {} : { operands: await commandOperands(ports.workspace, command, directory) }),
        ...(args.description === undefined ? {} : { claim: args.description }),
      };
    },

    async execute(args, analysis, { signal, onOutput }) {
      const effect = analysis.effects.find((candidate) => candidate.type === "exec");
      if (effect === undefined || !directories.has(effect)) {
        throw new ToolFailure("not_analysed", "The call was not analysed by its own tool.");
      }
      const timeoutMs = args.timeout_ms ?? defaultTimeoutMs;
      const { client } = ports.workspace;
      if (client !== undefined) {
        const { text, readsOnly } = effect.command;
        const there = await client.run({ text, cwd: effect.cwd, timeoutMs, readsOnly }, { signal, onOutput });
        return { ...outcomeOf(there.run, timeoutMs, there.notes), ...(there.putBack && { putBack: there.putBack }) };
      }
      const cwd = directories.get(effect) ?? heldDirectory(effect.cwd.absolute, pathName(effect.cwd));
      const { text, readsOnly } = effect.command;
      const { root } = ports.workspace;
      const { run, notes, putBack } = await runShellCommand(
        { text, cwd, timeoutMs, readsOnly, agreed: agreedControl(effect.command) },
        { ...ports, workspaceRoot: root, shellArguments: (command) => ports.shellArguments(command) },
        { signal, onOutput },
      );
      return { ...outcomeOf(run, timeoutMs, notes), ...(putBack.files.length === 0 ? {} : { putBack }) };
    },

    async verify(_args, outcome) {
      if (outcome.exitCode === undefined) return { state: "failed", evidence: "The command did not end by itself." };
      const state = outcome.exitCode === 0 ? "verified" : "failed";
      return { state, evidence: `The command ended with exit code ${outcome.exitCode}.` };
    },
  };
}

function heldDirectory(path: string, name: string): HeldDirectory {
  try {
    return holdDirectory(path);
  } catch (error) {
    throw new ToolFailure("bad_directory", `The command cannot run in ${name}: it is not a directory.`, {
      cause: error,
    });
  }
}

/** The same where a client holds the files: it looks again, and runs nothing where there is no directory any more. */
async function refuseNoDirectory(workspace: Workspace, cwd: WorkspacePath): Promise<void> {
  if ((await workspace.stat(cwd))?.kind === "directory") return;
  throw new ToolFailure("bad_directory", `The command cannot run in ${pathName(cwd)}: it is not a directory.`);
}

function outcomeOf(run: CommandRun, timeoutMs: number, more: readonly string[]): ToolOutcome {
  const end = endOf(run, timeoutMs);
  const notes = [`[${end.note}]`, ...encodingNotes(run), ...more];
  if (run.survivors.length > 0) notes.push(`[processes that could not be ended: ${run.survivors.join(", ")}]`);
  return {
    output: withNotes(run.output, notes),
    truncated: run.leftOut > 0,
    ...(run.exitCode === undefined || run.state !== "exited" ? {} : { exitCode: run.exitCode }),
    ...(end.failure === undefined ? {} : { failure: end.failure }),
  };
}

/** What the model reads is not what was printed, byte by byte: it is told so, and the digest says what it was. */
function encodingNotes({ encoding, outputSha256 }: CommandRun): readonly string[] {
  if (encoding === "utf-8") return [];
  const what =
    encoding === "utf-16"
      ? "UTF-16, shown as text"
      : "not UTF-8 text: what could not be read is shown as \uFFFD or left out";
  return [`[the output is ${what}; SHA-256 of its bytes: ${outputSha256}]`];
}

function endOf(
  run: CommandRun,
  timeoutMs: number,
): { readonly note: string; readonly failure?: ToolOutcome["failure"] } {
  switch (run.state) {
    case "timed-out": {
      const note = `timed out after ${timeoutMs / 1000} s`;
      return { note, failure: { failureClass: "timeout", message: `The command ${note}.` } };
    }
    case "aborted":
      return {
        note: "stopped before it ended",
        failure: { failureClass: "partial_execution", message: "The command was stopped before it ended." },
      };
    case "too-much-output":
      return {
        note: "ended, because it printed too much",
        failure: { failureClass: "command_error", message: "The command printed too much and was ended." },
      };
    case "over-limit": {
      const message = `The command was ended, because ${run.exceeded ?? "it took too much of the machine"}.`;
      return {
        note: message.slice(0, -1).replace("The command was ", ""),
        failure: { failureClass: "command_error", message },
      };
    }
    case "exited": {
      if (run.exitCode === 0) return { note: "exit code 0" };
      const note = run.exitCode === undefined ? `ended by signal ${run.signal}` : `exit code ${run.exitCode}`;
      return {
        note,
        failure: { failureClass: "command_error", message: `The command ended with ${note.replace("ended by ", "")}.` },
      };
    }
  }
}
