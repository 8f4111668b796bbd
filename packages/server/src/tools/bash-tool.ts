import { analyseCommand } from "@gennai/governance/command/analyse-command";
import type { Effect } from "@gennai/governance/effect";
import type { Tool, ToolOutcome } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { z } from "zod";
import {
  CommandNotStarted,
  type CommandRun,
  type HeldDirectory,
  holdDirectory,
  runCommand,
} from "../process/run-command.ts";
import { type ShellSandbox, sandboxFailure } from "../sandbox/sandboxed-shell.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { commandOperands } from "./command-operands.ts";
import { withNotes } from "./command-output.ts";
import { pathName } from "./path-name.ts";

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

export interface BashPorts {
  readonly workspace: Workspace;
  /** The user's home directory, for `~` in commands. */
  readonly home: string;
  /** Everything the command finds in its environment. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Program (absolute) and arguments that run a shell command: the shell itself, or a sandbox around it.
   * Throws `ToolFailure` (`tool_unavailable`) where there is none.
   */
  shellArguments(command: string): readonly string[] | Promise<readonly string[]>;
  /** Where this is set, every command runs in it and `shellArguments` is not used. */
  readonly sandbox?: Pick<ShellSandbox, "prepare"> | undefined;
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
      const directory = cwd.inside ? heldDirectory(cwd.absolute, pathName(cwd)) : undefined;
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
      const cwd = directories.get(effect) ?? heldDirectory(effect.cwd.absolute, pathName(effect.cwd));
      const boxed = ports.sandbox?.prepare(effect.command.text, {
        workspaceRoot: ports.workspace.root,
        cwd: effect.cwd.absolute,
        readsOnly: effect.command.readsOnly,
      });
      try {
        const argv = boxed?.argv ?? (await ports.shellArguments(effect.command.text));
        const run = await runCommand({ argv, cwd, env: ports.environment, timeoutMs }, { signal, onOutput });
        const notes = boxed?.finish() ?? [];
        if (boxed !== undefined) refuseUnstarted(run);
        return outcomeOf(run, timeoutMs, notes);
      } catch (error) {
        if (!(error instanceof CommandNotStarted)) throw error;
        throw new ToolFailure(error.code, error.message, {
          retryable: error.code === "directory_changed",
          cause: error,
        });
      } finally {
        boxed?.finish();
      }
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

/** A sandbox that cannot start is no reason to run the command without it. */
function refuseUnstarted(run: CommandRun): void {
  const failure = sandboxFailure(run);
  if (failure === undefined) return;
  throw new ToolFailure("sandbox_unavailable", `The sandbox could not start, so the command did not run: ${failure}`, {
    failureClass: "tool_unavailable",
    hint: "Tell the user; commands never run outside the sandbox instead.",
  });
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
