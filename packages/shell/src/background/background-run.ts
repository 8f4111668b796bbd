import type { ShownImage } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { CommandLimits } from "@gennai/machine/process/command-limits";
import type { CommandRun } from "@gennai/machine/process/run-command";
import { errorMessage } from "@gennai/protocol/error-message";
import type { SessionNetwork } from "@gennai/stage/mount/session-network";
import { runOnStage } from "@gennai/stage/staged-command";
import { StageUnavailable } from "@gennai/stage/transaction/stage-error";
import type { Stages, ZeroAccess } from "../stages/stages.ts";
import { LiveEdits } from "./live-edits.ts";

export interface BackgroundCommand {
  /** Text for the shell. */
  readonly text: string;
  /** Real path, in the workspace. */
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** As in `StagedCommand`. */
  readonly resolver?: string | undefined;
  /** Limits that are left out have their usual values. */
  readonly limits?: Partial<CommandLimits>;
}

export interface BackgroundSurroundings {
  readonly stages: Pick<Stages, "beside">;
  readonly zeroAccess: ZeroAccess;
  /** The session whose layer the run sees. */
  readonly session?: string | undefined;
  /** Real path. */
  readonly workspaceRoot: string;
  /** The network of the session, in which its commands reach the run, or a network of its own. */
  readonly network: SessionNetwork;
}

/** How a background run ended: like any command, or as these words say. */
export type BackgroundEnd = { readonly run: CommandRun } | { readonly how: string };

/** Takes what a run says. @param images of its result */
export type OnOutput = (text: string, images?: readonly ShownImage[]) => void;

/** What runs until it ends or is stopped: a server, a watcher. */
export interface BackgroundRun {
  /** Resolves when every process of the run is gone, and everything that it wrote. Never rejects. */
  readonly ended: Promise<BackgroundEnd>;
  /** Resolves when the command itself has started in its sandbox, or is over. Never rejects. */
  readonly begun: Promise<void>;
  /** Resolves when the command is over, before what it wrote is removed. Never rejects. */
  readonly over: Promise<void>;
  /** True if some changes of others do not reach it: the system does not let so many directories be watched. */
  readonly isPartial: boolean;
  /** Ends the run, first politely; resolves as `ended` does. */
  stop(): Promise<BackgroundEnd>;
}

/**
 * Starts a command besides the session's others. It sees the workspace, also when others change it, but no secrets. What it
 * writes goes to a layer of its own, which is dropped at its end. Rejects with `ToolFailure` `background_unavailable`.
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
      return lost === undefined ? { run: ran } : { how: lost };
    } catch (error) {
      return { how: lost ?? errorMessage(error) };
    } finally {
      begun.resolve();
      over.resolve();
      await edits[Symbol.asyncDispose]();
      await beside.drop();
    }
  };
  const ended = run().catch((error: unknown) => ({ how: errorMessage(error) }));
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

/** The longest delay of a timer: 24 days. Output is shown as it comes; only its end is kept, to say why no start was possible. */
const long = {
  timeoutMs: 2 ** 31 - 1,
  liveBytes: Number.POSITIVE_INFINITY,
  maxBytes: Number.POSITIVE_INFINITY,
  keepBytes: 16 * 1024,
  lookEveryMs: 1_000,
};

/** The error if nothing can run in the background here, with the reason. */
export function backgroundUnavailable(error: unknown): ToolFailure {
  return new ToolFailure("background_unavailable", `Nothing can run in the background: ${errorMessage(error)}`, {
    failureClass: "tool_unavailable",
    hint: error instanceof StageUnavailable ? error.advice : "Run it in the foreground, with an end.",
    cause: error,
  });
}
