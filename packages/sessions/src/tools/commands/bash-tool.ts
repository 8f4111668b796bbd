import { analyseCommand } from "@gennai/governance/command/analyse-command";
import type { Effect, WorkspacePath } from "@gennai/governance/effect";
import { agreedControl } from "@gennai/governance/policies/agreed-control";
import type { Tool } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { type HeldDirectory, holdDirectory } from "@gennai/machine/process/run-command";
import { runShellCommand, type ShellSurroundings } from "@gennai/machine/shell/shell-runner";
import type { StagedSurroundings } from "@gennai/machine/staged-shell/run-staged";
import type { Stages } from "@gennai/machine/staged-shell/stages";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import type { BlobStore } from "@gennai/store/log/session-log";
import { z } from "zod";
import type { BackgroundRuns } from "../../background/background-runs.ts";
import { startBackground } from "../background/start-in-background.ts";
import { pathName } from "../path-name.ts";
import { commandOperands } from "./command-operands.ts";
import { commandOutcome } from "./command-outcome.ts";
import { executeStaged } from "./execute-staged.ts";

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
  run_in_background: z
    .boolean()
    .optional()
    .describe("For servers and watchers: answers at once with an id, and the command goes on."),
});

type BashArguments = z.infer<typeof parameters>;

export interface BashPorts extends Omit<ShellSurroundings, "workspaceRoot"> {
  /** Gets what files held before a staged command, for undo. */
  readonly blobs: Pick<BlobStore, "put">;
  readonly workspace: Workspace;
  /** The user's home directory, for `~` in commands. */
  readonly home: string;
  /** Where commands are staged; without it, they run in the workspace. */
  readonly staging?: Staging | undefined;
}

/** Where commands are staged, what is hidden from them, whose layer they see, and where those that last run. */
export interface Staging extends Pick<StagedSurroundings, "stages" | "zeroAccess" | "session"> {
  readonly background: BackgroundRuns;
  /** Sees to it that what git's history holds of secrets is masked in what commands print. */
  learnSecrets(options: { readonly signal: AbortSignal }): Promise<void>;
}

const plainDescription =
  "Runs a shell command without input and returns its output and exit code. " +
  "Processes it leaves in the background are ended with it.";

const stagedDescription =
  "It runs on a copy of the workspace, without network: what it changed is looked at when it has ended, and becomes true " +
  "then. Notes in brackets at the end of the output say what was not kept, and why. Of a command that was ended, nothing is. " +
  "What git ignores (builds, dependencies) stays with this session: later commands see it, file tools and the user do not. " +
  "Servers and watchers: run_in_background. They see the workspace, and edits as they are saved (not those in node_modules); " +
  "what they write themselves is never kept. Later commands reach their ports on localhost, nobody else does.";

/** Runs a shell command on the server and captures what it prints. */
export function bashTool(ports: BashPorts): Tool<BashArguments> {
  const directories = new WeakMap<Effect, HeldDirectory | undefined>();
  return {
    name: "Bash",
    description: ports.staging === undefined ? plainDescription : `${plainDescription} ${stagedDescription}`,
    parameters,
    access: "change",

    async analyse(args) {
      const cwd = await ports.workspace.resolve(args.cwd ?? ".");
      const { root } = ports.workspace;
      const command = analyseCommand(args.command, { cwd: cwd.absolute, home: ports.home, workspace: root });
      const { client } = ports.workspace;
      const staged = ports.staging !== undefined && (await canBeStaged(ports.staging.stages, cwd, root));
      const effect: Effect = { type: "exec", command, cwd, where: "server", ...(staged ? { staged } : {}) };
      if (args.run_in_background === true && !staged) throw notInBackground(client !== undefined);
      if (client !== undefined && cwd.inside) await refuseNoDirectory(ports.workspace, cwd);
      const directory = client === undefined && cwd.inside ? heldDirectory(cwd.absolute, pathName(cwd)) : undefined;
      directories.set(effect, directory);
      return {
        statement: `Run \`${args.command}\`${args.run_in_background === true ? " in the background" : ""}`,
        effects: [effect],
        ...(command.readsOnly ? {} : { operands: await commandOperands(ports.workspace, command, directory) }),
        ...(args.description === undefined ? {} : { claim: args.description }),
      };
    },

    async execute(args, analysis, context) {
      const { signal, onOutput } = context;
      const effect = analysis.effects.find((candidate) => candidate.type === "exec");
      if (effect === undefined || !directories.has(effect)) {
        throw new ToolFailure("not_analysed", "The call was not analysed by its own tool.");
      }
      const timeoutMs = args.timeout_ms ?? defaultTimeoutMs;
      const { client } = ports.workspace;
      if (client !== undefined) {
        const { text, readsOnly } = effect.command;
        const there = await client.run({ text, cwd: effect.cwd, timeoutMs, readsOnly }, { signal, onOutput });
        return {
          ...commandOutcome(there.run, timeoutMs, there.notes),
          ...(there.putBack && { putBack: there.putBack }),
        };
      }
      if (effect.staged === true && ports.staging !== undefined) {
        const { staging, environment, limits = {} } = ports;
        const { background, learnSecrets, ...where } = staging;
        await learnSecrets({ signal });
        const surroundings = { ...where, workspaceRoot: ports.workspace.root, environment, limits };
        if (args.run_in_background === true) {
          return startBackground(effect, analysis, surroundings, { background, signal });
        }
        const { blobs } = ports;
        return executeStaged(effect, timeoutMs, { ...surroundings, network: background.network, blobs }, context);
      }
      const cwd = directories.get(effect) ?? heldDirectory(effect.cwd.absolute, pathName(effect.cwd));
      const { text, readsOnly } = effect.command;
      const { root } = ports.workspace;
      const { run, notes, putBack } = await runShellCommand(
        { text, cwd, timeoutMs, readsOnly, agreed: agreedControl(effect.command) },
        { ...ports, workspaceRoot: root, shellArguments: (command) => ports.shellArguments(command) },
        { signal, onOutput },
      );
      return { ...commandOutcome(run, timeoutMs, notes), ...(putBack.files.length === 0 ? {} : { putBack }) };
    },

    async verify(args, outcome) {
      if (args.run_in_background === true && outcome.failure === undefined) {
        return { state: "verified", evidence: "It runs in the background." };
      }
      if (outcome.exitCode === undefined) return { state: "failed", evidence: "The command did not end by itself." };
      const state = outcome.exitCode === 0 ? "verified" : "failed";
      return { state, evidence: `The command ended with exit code ${outcome.exitCode}.` };
    },
  };
}

function notInBackground(isHeldByClient: boolean): ToolFailure {
  const why = isHeldByClient ? "the files of this workspace are on another machine" : "commands are not staged here";
  return new ToolFailure("background_unavailable", `Nothing can run in the background: ${why}.`, {
    failureClass: "tool_unavailable",
    hint: "Run it in the foreground, with an end, or ask the user to start it.",
  });
}

/** Throws `ToolFailure` for a command that cannot, where all have to. */
async function canBeStaged(stages: Stages, cwd: WorkspacePath, root: string): Promise<boolean> {
  const support = await stages.support(root);
  if (cwd.inside && support.state === "staged") return true;
  if (stages.mode !== "required") return false;
  const [reason, hint] =
    support.state === "staged"
      ? [`${pathName(cwd)} is outside of the workspace.`, "Run it in the workspace."]
      : [support.reason, support.advice];
  throw new ToolFailure("stage_unavailable", `The command did not run, because it cannot be staged: ${reason}`, {
    failureClass: "tool_unavailable",
    hint,
  });
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
