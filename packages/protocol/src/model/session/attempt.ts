import { create, fromJson, type JsonValue, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import {
  type AttemptChange as AttemptChangeMessage,
  AttemptCheck,
  type Attempt as AttemptMessage,
  AttemptOutcome,
  AttemptPhase,
  type AttemptSet as AttemptSetMessage,
  AttemptSetSchema,
} from "../../gen/gennai/agent/v1/attempt_pb.ts";
import { EnumWords } from "../enum-words.ts";

const phases = new EnumWords({
  waiting: AttemptPhase.WAITING,
  working: AttemptPhase.WORKING,
  checking: AttemptPhase.CHECKING,
  ended: AttemptPhase.ENDED,
});

const outcomes = new EnumWords({
  completed: AttemptOutcome.COMPLETED,
  cancelled: AttemptOutcome.CANCELLED,
  error: AttemptOutcome.ERROR,
  interrupted: AttemptOutcome.INTERRUPTED,
  failed: AttemptOutcome.FAILED,
});

const checks = new EnumWords({
  not_run: AttemptCheck.NOT_RUN,
  passed: AttemptCheck.PASSED,
  failed: AttemptCheck.FAILED,
});

/** One attempt at a prompt, and its changes to files that git tracks or would track. */
export interface Attempt {
  /** From 1. */
  readonly number: number;
  readonly phase: (typeof phases.words)[number];
  /** Clients that follow this session see the attempt work and answer its requests; empty before it exists. */
  readonly sessionId: string;
  /** How its turn ended; `failed`: there was no turn. undefined before the attempt has ended. */
  readonly outcome: (typeof outcomes.words)[number] | undefined;
  /** `not_run` if the turn was not completed or changed nothing. */
  readonly check: (typeof checks.words)[number];
  /** The end of what the check printed. */
  readonly checkOutput: string;
  /** The model's last words, or why it failed. */
  readonly text: string;
  readonly addedLines: number;
  readonly removedLines: number;
  readonly tokens: number;
  /** undefined where no price is known. */
  readonly cost: { readonly amount: number; readonly currency: string } | undefined;
  readonly changes: readonly AttemptChange[];
}

/** A file that an attempt changed; undefined: there was none, or it is gone. */
export interface AttemptChange {
  readonly path: string;
  readonly before: AttemptFile | undefined;
  readonly after: AttemptFile | undefined;
}

export interface AttemptFile {
  /** A path that is a link on either side is one on both here: it is not proposed. */
  readonly kind: "file" | "executable" | "link";
  readonly sha256: string;
}

/** The attempts at one prompt. They belong to the workspace, and outlive the session in which they were asked for. */
export interface AttemptSet {
  readonly id: string;
  readonly prompt: string;
  /** The command that decides which attempt is best. */
  readonly check: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Id of the session in which they were asked for. */
  readonly startedIn: string;
  readonly isRunning: boolean;
  /** In their order while they run, best first after that. */
  readonly attempts: readonly Attempt[];
  /** Number of the suggested attempt; undefined: none yet, or none is worth it. */
  readonly suggested: number | undefined;
}

export const mostAttempts = 8;

export function isLink({ before, after }: Pick<AttemptChange, "before" | "after">): boolean {
  return before?.kind === "link" || after?.kind === "link";
}

export function attemptSetToMessage(set: AttemptSet): MessageInitShape<typeof AttemptSetSchema> {
  return {
    attemptsId: set.id,
    prompt: set.prompt,
    check: set.check,
    startedAt: timestampFromMs(set.startedAt),
    startedIn: set.startedIn,
    running: set.isRunning,
    suggested: set.suggested ?? 0,
    attempts: set.attempts.map(({ phase, outcome, check, tokens, cost, changes, ...same }) => ({
      ...same,
      phase: phases.toMessage(phase),
      outcome: outcome === undefined ? AttemptOutcome.UNSPECIFIED : outcomes.toMessage(outcome),
      check: checks.toMessage(check),
      tokens: BigInt(tokens),
      ...(cost === undefined ? {} : { cost: cost.amount, currency: cost.currency }),
      changes: changes.map((change) => ({
        path: change.path,
        beforeSha256: change.before?.sha256 ?? "",
        afterSha256: change.after?.sha256 ?? "",
        link: isLink(change),
        beforeExecutable: change.before?.kind === "executable",
        afterExecutable: change.after?.kind === "executable",
      })),
    })),
  };
}

export function attemptSetFromMessage(message: AttemptSetMessage): AttemptSet {
  const { attemptsId, prompt, check, startedAt, startedIn, running, attempts, suggested } = message;
  return {
    id: attemptsId,
    prompt,
    check,
    startedAt: startedAt === undefined ? 0 : timestampMs(startedAt),
    startedIn,
    isRunning: running,
    attempts: attempts.map(attemptFromMessage),
    suggested: suggested || undefined,
  };
}

/** As it is stored. */
export function attemptSetToJson(set: AttemptSet): JsonValue {
  return toJson(AttemptSetSchema, create(AttemptSetSchema, attemptSetToMessage(set)));
}

/** Throws if it is none. */
export function attemptSetFromJson(json: JsonValue): AttemptSet {
  return attemptSetFromMessage(fromJson(AttemptSetSchema, json));
}

function attemptFromMessage(message: AttemptMessage): Attempt {
  const { number, sessionId, checkOutput, text, addedLines, removedLines, cost, currency } = message;
  return {
    number,
    phase: phases.fromMessage(message.phase) ?? "waiting",
    sessionId,
    outcome: outcomes.fromMessage(message.outcome),
    check: checks.fromMessage(message.check) ?? "not_run",
    checkOutput,
    text,
    addedLines,
    removedLines,
    tokens: Number(message.tokens),
    cost: cost === undefined ? undefined : { amount: cost, currency },
    changes: message.changes.map(changeFromMessage),
  };
}

function changeFromMessage(message: AttemptChangeMessage): AttemptChange {
  const file = (sha256: string, isExecutable: boolean): AttemptFile | undefined => {
    const kind = message.link ? "link" : isExecutable ? "executable" : "file";
    return sha256 === "" ? undefined : { kind, sha256 };
  };
  return {
    path: message.path,
    before: file(message.beforeSha256, message.beforeExecutable),
    after: file(message.afterSha256, message.afterExecutable),
  };
}
