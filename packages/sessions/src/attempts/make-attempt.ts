import { join } from "node:path";
import type { UsageSum } from "@gennai/agent/usage";
import { editableText } from "@gennai/machine/changes/editable-text";
import { ServiceError } from "@gennai/machine/service-error";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import { diffLines } from "@gennai/protocol/diff/line-diff";
import type { Attempt } from "@gennai/protocol/model/session/attempt";
import type { SessionSettings } from "@gennai/protocol/model/session/session-settings";
import { changesBetween, contentAt, type FileState, readTreeState } from "@gennai/shell/tree-state";
import { prepareSessionBranch } from "../manager/prepare-session-branch.ts";
import type { SessionManager } from "../manager/session-manager.ts";
import type { PolicyWorkbench } from "../policy-workbench/policy-workbench.ts";
import type { PersonsNetwork } from "../policy-workbench/try/persons-network.ts";
import type { Session } from "../session/session.ts";
import { prepareTurn, type TurnInput } from "../turn/start/prepare-turn.ts";
import { isUsable } from "./attempt.ts";
import type { OpenAttempts } from "./kept-attempts.ts";
import type { WorkingCopies } from "./working-copies.ts";

/** Milliseconds a check may take. */
const checkMs = 600_000;
/** Maximum characters of a check's output, and of a model's last message. */
const maxText = 8_000;

/** What making an attempt needs. */
export interface AttemptPorts {
  readonly manager: Pick<SessionManager, "start" | "hold">;
  /** Opens a workbench that runs a check on a copy without side effects. */
  openWorkbench(directory: string): Promise<PolicyWorkbench>;
  /** Call it when a copy is no longer used: frees what is kept ready for it. */
  leave(workspace: Workspace): Promise<void>;
}

export interface AttemptPlan {
  /** The copy in which the attempt is made. */
  readonly directory: string;
  readonly settings: SessionSettings;
  readonly input: Omit<TurnInput, "clientTurnId">;
  readonly check: string;
  readonly network: PersonsNetwork;
  readonly copies: Pick<WorkingCopies, "base" | "state">;
  readonly open: Pick<OpenAttempts, "keep">;
  readonly user: string;
  /** Stops the attempt; its changes so far are still measured, unless the server is shutting down. */
  readonly stop: AbortSignal;
  /** Aborts when the server shuts down. */
  readonly end: AbortSignal;
  /** Reports the attempt's state. */
  onProgress(reached: Partial<Attempt>): void;
  /** Reports what its turn used. */
  onUsed(used: UsageSum): void;
}

/** Makes one attempt, from its session to its check. Rejects if no turn could be run. */
export async function makeAttempt(ports: AttemptPorts, plan: AttemptPlan): Promise<Omit<Attempt, "number">> {
  const { manager } = ports;
  const { directory, settings, user, onProgress } = plan;
  const session = await manager.start(settings, directory, user);
  using _held = manager.hold(session.id);
  onProgress({ sessionId: session.id, phase: "working" });
  try {
    return await madeIn(session, ports, plan);
  } finally {
    await ports.leave(session.workspace);
  }
}

async function madeIn(session: Session, ports: AttemptPorts, plan: AttemptPlan): Promise<Omit<Attempt, "number">> {
  const { stop, end, onProgress } = plan;
  await prepareSessionBranch(session, { task: plan.input.text }, AbortSignal.any([stop, end]));
  const turn = await turnIn(session, plan);
  await session.background.stopAll("the end of the attempt");
  end.throwIfAborted();
  plan.onUsed(session.state.usage);
  onProgress(turn);
  const measured = { ...turn, ...(await changesIn(plan)) };
  const made = { phase: "ended", check: "not_run", checkOutput: "", ...measured } as const;
  if (stop.aborted || !isUsable(made)) return made;
  onProgress({ ...measured, phase: "checking" });
  return { ...made, ...(await checked(ports, plan)) };
}

async function turnIn(session: Session, { input, stop, end }: AttemptPlan) {
  stop.throwIfAborted();
  end.throwIfAborted();
  const { turnId, ended } = await session.turns.start((id, signal) =>
    prepareTurn(session, { ...input, clientTurnId: `attempt-${id}`, turnId: id }, signal),
  );
  const cancel = (): void => {
    void session.turns.cancel("The attempt was stopped.", turnId).catch(session.services.onUnexpectedError);
  };
  stop.addEventListener("abort", cancel, { once: true });
  if (stop.aborted) cancel();
  try {
    await ended;
  } finally {
    stop.removeEventListener("abort", cancel);
  }
  const { turns, conversation, usage } = session.state;
  const state = turns.get(turnId)?.state;
  const words = conversation.messages.findLast((message) => message.role === "assistant")?.text ?? "";
  return {
    sessionId: session.id,
    outcome: state === "completed" || state === "cancelled" || state === "error" ? state : "interrupted",
    text: words.slice(0, maxText),
    tokens: usage.inputTokens + usage.outputTokens,
    cost: usage.cost,
  } as const;
}

/** Maximum milliseconds for comparing two texts. */
const timeoutMs = 200;

/** The attempt's changes in its copy, whose bytes before and after are kept. The copy must no longer be in use. */
async function changesIn({
  directory,
  copies: { base, state },
  open,
  end,
}: AttemptPlan): Promise<Pick<Attempt, "changes" | "addedLines" | "removedLines">> {
  let [addedLines, removedLines] = [0, 0];
  const keptAt = (path: string, file: FileState | undefined): Buffer | undefined => {
    const bytes = file && contentAt(path, file.kind);
    if (file !== undefined && bytes !== undefined) open.keep(file.sha256, bytes);
    return bytes;
  };
  const changes = changesBetween(state, await readTreeState(directory, end));
  for (const { path, before, after } of changes) {
    const bytes = [keptAt(join(base, path), before), keptAt(join(directory, path), after)];
    const [oldText, newText] = bytes.map((each) => (each === undefined ? "" : editableText(each)?.text));
    // A binary file or a mode change counts as one line.
    const isText = oldText !== undefined && newText !== undefined && oldText !== newText;
    const edits = isText ? diffLines(oldText, newText, { timeoutMs }).edits : [{ newCount: 1, oldCount: 0 }];
    addedLines += edits.reduce((sum, { newCount }) => sum + newCount, 0);
    removedLines += edits.reduce((sum, { oldCount }) => sum + oldCount, 0);
  }
  return { changes, addedLines, removedLines };
}

async function checked(
  ports: AttemptPorts,
  { directory, check, network, stop, end }: AttemptPlan,
): Promise<Pick<Attempt, "check" | "checkOutput">> {
  await using workbench = await ports.openWorkbench(directory);
  const signal = AbortSignal.any([stop, end]);
  try {
    const { trial } = await workbench.try(check, { evenIfRefused: true, timeoutMs: checkMs, signal, network });
    const passed = trial?.state === "exited" && trial.exitCode === 0;
    return { check: passed ? "passed" : "failed", checkOutput: trial?.output.slice(-maxText) ?? "" };
  } catch (error) {
    end.throwIfAborted();
    if (stop.aborted) return { check: "not_run", checkOutput: "" };
    // Its changes exist anyway: a user can look at them.
    if (!(error instanceof ServiceError)) throw error;
    return { check: "failed", checkOutput: error.message.slice(0, maxText) };
  }
}
