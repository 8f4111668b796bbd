import { ToolFailure } from "@gennai/governance/tool-error";
import { errorMessage } from "@gennai/protocol/error-message";
import type { CommandLimits } from "../process/group/command-limits.ts";
import type { CommandRun } from "../process/run-command.ts";
import type { SessionNetwork } from "../stage/keeper/session-network.ts";
import { runOnStage } from "../stage/staged-command.ts";
import { StageUnavailable } from "../stage/transaction/stage-error.ts";
import type { Stages, ZeroAccess } from "../staged-shell/stages/stages.ts";
import { LiveEdits } from "./live-edits.ts";

export interface BackgroundCommand {
  /** Text for the shell. */
  readonly text: string;
  /** Real path, in the workspace. */
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** As in `StagedCommand`. */
  readonly resolver?: string | undefined;
  /** The usual limits for what is left out. */
  readonly limits?: Partial<CommandLimits>;
}

export interface BackgroundSurroundings {
  readonly stages: Pick<Stages, "beside">;
  readonly zeroAccess: ZeroAccess;
  /** Whose layer it sees. */
  readonly session?: string | undefined;
  /** Real path. */
  readonly workspaceRoot: string;
  /** The session's, in which commands reach it; or one of its own. */
  readonly network: SessionNetwork;
}

/** How a background run ended: as any command, or because it could not go on. */
export type BackgroundEnd = { readonly run: CommandRun } | { readonly failure: string };

/** A command that runs until it ends or is stopped: a server, a watcher. */
export interface BackgroundRun {
  /** Resolves when every process of it is gone, and all that it wrote. Never rejects. */
  readonly ended: Promise<BackgroundEnd>;
  /** Resolves when the command itself runs, its sandbox being made, or is over. Never rejects. */
  readonly begun: Promise<void>;
  /** Resolves when the command is over, before what it wrote is gone. Never rejects. */
  readonly over: Promise<void>;
  /** Not every change of others reaches it: the system does not let so many directories be watched. */
  readonly isPartial: boolean;
  /** Ends it, first politely; resolves as `ended` does. */
  stop(): Promise<BackgroundEnd>;
}

/**
 * Starts a command beside the session's others. It sees the workspace as it is, and as others change it, but no secrets; what
 * it writes itself goes to a layer of its own that is dropped with it. Throws `ToolFailure` `background_unavailable`.
 */
export async function startInBackground(
  command: BackgroundCommand,
  { stages, zeroAccess, session, workspaceRoot, network }: BackgroundSurroundings,
  options: { onOutput(text: string): void },
): Promise<BackgroundRun> {
  const beside = await stages.beside(workspaceRoot, zeroAccess, network, session).catch((error: unknown) => {
    throw backgroundUnavailable(error);
  });
  const { machine, look } = beside;
  const { mounts, transaction, covered } = beside.mounted;
  const stopping = new AbortController();
  let lost: string | undefined;
  let edits: LiveEdits;
  try {
    const [root] = transaction.roots;
    const [hidden] = covered;
    if (root === undefined || hidden === undefined) throw new Error("There is no root.");
    edits = await LiveEdits.follow({
      root,
      merged: mounts.merged(root),
      covered: hidden,
      look: async () => (await look()).find((one) => one.root.path === root.path)?.covered ?? hidden,
      onLost: (error) => {
        lost = `It is no longer known which files it must not see: ${errorMessage(error)}`;
        stopping.abort();
      },
    });
  } catch (error) {
    await beside.drop();
    throw backgroundUnavailable(error);
  }
  const begun = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const run = async (): Promise<BackgroundEnd> => {
    const stage = { roots: transaction.roots, mounts, machine };
    try {
      const { signal } = stopping;
      const ran = await runOnStage({ ...command, ...long }, stage, { ...options, signal, onRunning: begun.resolve });
      return lost === undefined ? { run: ran } : { failure: lost };
    } catch (error) {
      return { failure: lost ?? errorMessage(error) };
    } finally {
      begun.resolve();
      over.resolve();
      await edits[Symbol.asyncDispose]();
      await beside.drop();
    }
  };
  const ended = run().catch((error: unknown) => ({ failure: errorMessage(error) }));
  return {
    ended,
    begun: begun.promise,
    over: over.promise,
    get isPartial() {
      return edits.isPartial;
    },
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
}

/** The longest that a timer can wait: 24 days. Its output is shown as it comes; only what says why it did not start is kept. */
const long = {
  timeoutMs: 2 ** 31 - 1,
  liveBytes: Number.POSITIVE_INFINITY,
  maxBytes: Number.POSITIVE_INFINITY,
  keepBytes: 16 * 1024,
  lookEveryMs: 1_000,
};

/** Nothing can run in the background here, and why. */
export function backgroundUnavailable(error: unknown): ToolFailure {
  return new ToolFailure("background_unavailable", `Nothing can run in the background: ${errorMessage(error)}`, {
    failureClass: "tool_unavailable",
    hint: error instanceof StageUnavailable ? error.advice : "Run it in the foreground, with an end.",
    cause: error,
  });
}
