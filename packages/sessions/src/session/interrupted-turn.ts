import type { DirectoryChangeRecord, FileChangeRecord } from "@gennai/agent/events/proposal";
import type { SessionEvent } from "@gennai/agent/events/session-event";
import { type LedgerEntry, outsideTurns } from "@gennai/governance/ledger/ledger-entry";
import type { PlanChange } from "@gennai/governance/plan-change";
import type { Redactor } from "@gennai/governance/redaction";
import type { RefMove } from "@gennai/governance/tool";
import { recordedFiles } from "@gennai/machine/redaction/masked-paths";
import { visibleText } from "@gennai/machine/web/visible-text";
import * as z from "zod";
import type { SessionWriter } from "./session-writer.ts";
import { type SessionState, type TurnRecord, waitedForAnswer } from "./state/session-state.ts";

interface Context {
  readonly sessionId: string;
  readonly now: () => number;
  readonly redactor: Redactor;
  /** What commits of the session left to be recorded; as `LeftCommit`. */
  readonly commits: () => readonly unknown[];
}

/**
 * Ends a turn whose process is gone: its open requests are void, and the effect of a started call is unknown; log and ledger
 * say so. A fork's copy of an unfinished turn did nothing here, so nothing goes to the ledger.
 */
export async function closeInterruptedTurn(
  state: SessionState,
  writer: SessionWriter,
  context: Context,
): Promise<void> {
  const turn = state.openTurn;
  if (turn === undefined) return;
  const events: SessionEvent[] = [];
  for (const requestId of state.openRequests.keys()) {
    events.push({ type: "client-request-resolved", requestId, resolution: "cancelled", clientId: "" });
  }
  const left = turn.copied === true ? [] : leftCommits(state, turn.turnId, context.commits());
  events.push(...left);
  events.push(...interruptedPlans(state, turn.turnId), ...interruption(turn, questionsOf(state)));
  const ledger = turn.copied === true ? [] : [await unknownOutcome(left, state, turn, context)];
  await writer.commit(events, { turnId: turn.turnId, ledger, durable: true });
}

async function unknownOutcome(
  left: ReturnType<typeof leftCommits>,
  state: SessionState,
  turn: TurnRecord,
  context: Context,
): Promise<LedgerEntry> {
  const all = [...state.changesUnderWay.values(), ...left.map(({ files }) => files)].flat();
  return {
    ...outsideTurns,
    kind: "outcome",
    time: context.now(),
    sessionId: context.sessionId,
    turnId: turn.turnId,
    files: await recordedFiles(all, context.redactor),
    details: { interrupted: true, failureClass: "partial_execution" },
  };
}

type ErrorEvent = Extract<SessionEvent, { readonly type: "error" }>;

/** The last events of an interrupted turn. @param waiting the questions open then */
export function interruption(
  turn: Pick<TurnRecord, "prompt" | "copied">,
  waiting: readonly string[],
): readonly SessionEvent[] {
  return [cutOff(turn, waiting), { type: "status", state: "interrupted", iteration: 0 }];
}

/** Why the turn is over, and how the user can continue. Another turn can continue that of a prompt. */
function cutOff({ prompt, copied }: Pick<TurnRecord, "prompt" | "copied">, waiting: readonly string[]): ErrorEvent {
  if (copied === true) {
    return {
      type: "error",
      code: "forked_in_turn",
      message:
        "The fork was taken in the middle of this turn. What it had under way may have run since, in the source.",
      hint: "Look at the workspace, then ask again.",
      retryable: true,
    };
  }
  const canContinue = prompt === undefined ? {} : { canContinue: true as const };
  if (waiting.length > 0 && prompt !== undefined) {
    return {
      type: "error",
      code: waitedForAnswer,
      message: `The server went away while this waited for an answer: ${waiting.join(" ")}`,
      hint: "Ask again asks the question anew, and judges it by the rules of that time.",
      retryable: true,
      ...canContinue,
    };
  }
  return {
    type: "error",
    code: "interrupted",
    message: "The server went away during this turn. What was under way may or may not have taken effect.",
    hint: "Look at the workspace, then ask again.",
    retryable: true,
    ...canContinue,
  };
}

/** Maximum characters of one question. */
const longestQuestion = 300;

/** The questions now open to users, masked as in the log, one line each. */
export function questionsOf(state: SessionState): readonly string[] {
  const asked = [...state.openRequests.values()].flatMap((request) => {
    if (request.kind === "confirmation") return [request.question.actionStatement];
    return request.kind === "user-question" ? request.questions.map(({ question }) => question) : [];
  });
  return asked.map((text) => {
    const line = visibleText(text)
      .replaceAll(/[\p{C}\s]+/gu, " ")
      .trim();
    return line.length > longestQuestion ? `${line.slice(0, longestQuestion).toWellFormed()}…` : line;
  });
}

/** Events that end a turn's plans when its process is gone: their runs are over, and the state of the last step is unknown. */
function interruptedPlans(state: SessionState, turnId: string): readonly SessionEvent[] {
  const events: SessionEvent[] = [];
  for (const plan of state.plans.values()) {
    const changed = (change: PlanChange) => void events.push({ type: "plan-changed", planId: plan.planId, change });
    if (plan.state === "executing" && plan.runTurnId === turnId) {
      for (const step of plan.steps) {
        if (step.state !== "running") continue;
        const evidence = "The server went away during this step. Whether it took effect is not known.";
        changed({ type: "step", stepId: step.stepId, state: "failed", failureClass: "partial_execution", evidence });
      }
      const remediation = remediationOf("interrupted", state, turnId);
      changed({ type: "run-ended", state: "interrupted", claimed: false, executed: false, remediation });
    }
    if (plan.state === "verifying" && plan.verifyTurnId === turnId) {
      const remediation = "The server went away during the verification. Nothing is proven; look at the workspace.";
      changed({ type: "verification-ended", state: "interrupted", results: [], remediation });
    }
  }
  return events;
}

/** What is kept beside a command's commit until the session's log has it. */
export interface LeftCommit {
  readonly toolCallId: string;
  readonly files: readonly FileChangeRecord[];
  readonly directories: readonly DirectoryChangeRecord[];
  readonly refs: readonly RefMove[];
}

const schema: z.ZodType<LeftCommit> = z.object({
  toolCallId: z.string(),
  files: z.array(z.looseObject({ path: z.string(), operation: z.enum(["create", "update", "delete"]) })),
  directories: z.array(
    z.object({ path: z.string(), beforeMode: z.number().optional(), afterMode: z.number().optional() }),
  ),
  refs: z.array(z.object({ name: z.string(), from: z.string().optional(), to: z.string().optional() })),
});

/**
 * The change sets of commits that a server completed and could not record, of calls that have no result.
 * @param records beside the commits of the session, newest first
 */
function leftCommits(
  state: Pick<SessionState, "isUnderWay" | "changesUnderWay">,
  turnId: string,
  records: readonly unknown[],
): readonly Extract<SessionEvent, { readonly type: "change-set-applied" }>[] {
  return records.toReversed().flatMap((record) => {
    const { data } = schema.safeParse(record);
    if (data === undefined || !state.isUnderWay(data.toolCallId) || state.changesUnderWay.has(data.toolCallId))
      return [];
    return [{ type: "change-set-applied", changeSetId: turnId, ...data }];
  });
}

/** What a user can do after a failed run. Nothing of it happens without their approval. */
export function remediationOf(
  end: "failed" | "partial" | "interrupted",
  state: SessionState,
  runTurnId: string,
): string {
  const changeSet = state.changeSets.get(runTurnId);
  const files = [...new Set(changeSet?.files.map(({ path }) => path))];
  const beginning = {
    failed: "The run failed and no step took effect.",
    partial: "The run stopped early: some steps took effect, the others did not.",
    interrupted: "The server went away during the run: the last step may or may not have taken effect.",
  }[end];
  if (end === "failed") return `${beginning} Correct the plan and submit it again.`;
  const undo =
    files.length === 0
      ? "It changed no file by itself; only you can undo what its commands did."
      : `To undo its changes to ${named(files)}, approve the undo of the change set ${runTurnId} (UndoChangeSet). ` +
        "What its commands did is not part of it: look at the workspace.";
  return `${beginning} ${undo} To go on instead, submit a plan of the remaining steps and approve it.`;
}

function named(files: readonly string[]): string {
  const shown = files.slice(0, 5).join(", ");
  return files.length > 5 ? `${shown} and ${files.length - 5} more` : shown;
}
