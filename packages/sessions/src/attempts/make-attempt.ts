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
import type { PersonsNetwork } from "../policy-workbench/persons-network.ts";
import type { PolicyWorkbench } from "../policy-workbench/policy-workbench.ts";
import { followed } from "../session/own-turn.ts";
import type { Session } from "../session/session.ts";
import { prepareTurn, type TurnInput } from "../turn/prepare-turn.ts";
import { isUsable } from "./attempt.ts";
import type { AttemptLimits } from "./attempt-budget.ts";
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

/** A request for attempts. */
export interface AttemptsRequest {
  /** Repeating a request with the same id gives the same attempts. */
  readonly clientId: string;
  readonly input: Omit<TurnInput, "clientTurnId">;
  /** 2 to `maxAttempts`. */
  readonly count: number;
  /** Attempts at the same time. */
  readonly parallel: number;
  /** The command that decides which is best; empty: the project's own check. */
  readonly check: string;
  /** Models to use instead of the session's, in the order of the attempts; empty: the session's model. */
  readonly models: readonly string[];
  /** Network access of a check without a question. */
  readonly network: PersonsNetwork;
}

/** The attempts of one request, in copies of the session's workspace. */
export interface Attempts {
  readonly session: Session;
  readonly request: AttemptsRequest;
  /** The command that decides. */
  readonly check: string;
  readonly open: OpenAttempts;
  readonly copies: WorkingCopies;
  readonly ports: AttemptPorts;
}

/** One of them. */
export interface AttemptPlan {
  /** From 1. */
  readonly number: number;
  readonly limits: AttemptLimits;
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
export async function makeAttempt(all: Attempts, plan: AttemptPlan): Promise<Omit<Attempt, "number">> {
  const { manager } = all.ports;
  const { settings, user } = all.session;
  const model = all.request.models[plan.number - 1] || settings.model;
  const own: SessionSettings = { ...settings, ...plan.limits, model, editingMode: "branch" };
  const session = await manager.start(own, directoryOf(all, plan), user);
  using _held = manager.hold(session.id);
  plan.onProgress({ sessionId: session.id, phase: "working" });
  try {
    return await madeIn(session, all, plan);
  } finally {
    await all.ports.leave(session.workspace);
  }
}

function directoryOf({ copies }: Attempts, { number }: AttemptPlan): string {
  return copies.directories[number - 1] ?? "";
}

async function madeIn(session: Session, all: Attempts, plan: AttemptPlan): Promise<Omit<Attempt, "number">> {
  const { stop, end, onProgress } = plan;
  await prepareSessionBranch(session, { task: all.request.input.text }, AbortSignal.any([stop, end]));
  const turn = await turnIn(session, all, plan);
  await session.background.stopAll("the end of the attempt");
  end.throwIfAborted();
  plan.onUsed(session.state.usage);
  onProgress(turn);
  const measured = { ...turn, ...(await changesIn(all, plan)) };
  const made = { phase: "ended", check: "not_run", checkOutput: "", ...measured } as const;
  if (stop.aborted || !isUsable(made)) return made;
  onProgress({ ...measured, phase: "checking" });
  return { ...made, ...(await checked(all, plan)) };
}

async function turnIn(session: Session, { request: { input } }: Attempts, { stop, end }: AttemptPlan) {
  stop.throwIfAborted();
  end.throwIfAborted();
  const turn = await session.turns.start((id, signal) =>
    prepareTurn(session, { ...input, clientTurnId: `attempt-${id}`, turnId: id }, signal),
  );
  await followed(session, turn, { signal: stop, why: "The attempt was stopped." });
  const { turns, conversation, usage } = session.state;
  const state = turns.get(turn.turnId)?.state;
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
async function changesIn(
  all: Attempts,
  plan: AttemptPlan,
): Promise<Pick<Attempt, "changes" | "addedLines" | "removedLines">> {
  const { open, copies } = all;
  const directory = directoryOf(all, plan);
  let [addedLines, removedLines] = [0, 0];
  const keptAt = (path: string, file: FileState | undefined): Buffer | undefined => {
    const bytes = file && contentAt(path, file.kind);
    if (file !== undefined && bytes !== undefined) open.keep(file.sha256, bytes);
    return bytes;
  };
  const changes = changesBetween(copies.state, await readTreeState(directory, plan.end));
  for (const { path, before, after } of changes) {
    const bytes = [keptAt(join(copies.base, path), before), keptAt(join(directory, path), after)];
    const [oldText, newText] = bytes.map((each) => (each === undefined ? "" : editableText(each)?.text));
    // A binary file or a mode change counts as one line.
    const isText = oldText !== undefined && newText !== undefined && oldText !== newText;
    const edits = isText ? diffLines(oldText, newText, { timeoutMs }).edits : [{ newCount: 1, oldCount: 0 }];
    addedLines += edits.reduce((sum, { newCount }) => sum + newCount, 0);
    removedLines += edits.reduce((sum, { oldCount }) => sum + oldCount, 0);
  }
  return { changes, addedLines, removedLines };
}

async function checked(all: Attempts, plan: AttemptPlan): Promise<Pick<Attempt, "check" | "checkOutput">> {
  const { check, request, session, ports } = all;
  const { stop, end } = plan;
  await using workbench = await ports.openWorkbench(directoryOf(all, plan));
  const network = { ...request.network, answersOf: session.workspace.root };
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
