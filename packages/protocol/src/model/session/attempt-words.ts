import { AttemptCheck, AttemptOutcome, AttemptPhase } from "../../gen/gennai/agent/v1/attempt_pb.ts";
import { EnumWords } from "../enum-words.ts";

export const attemptPhaseWords = new EnumWords({
  waiting: AttemptPhase.WAITING,
  working: AttemptPhase.WORKING,
  checking: AttemptPhase.CHECKING,
  ended: AttemptPhase.ENDED,
});

/** How far an attempt has come. */
export type AttemptPhaseWord = (typeof attemptPhaseWords.words)[number];

export const attemptOutcomeWords = new EnumWords({
  completed: AttemptOutcome.COMPLETED,
  cancelled: AttemptOutcome.CANCELLED,
  error: AttemptOutcome.ERROR,
  interrupted: AttemptOutcome.INTERRUPTED,
  failed: AttemptOutcome.FAILED,
});

/** How an attempt ended. */
export type AttemptOutcomeWord = (typeof attemptOutcomeWords.words)[number];

export const attemptCheckWords = new EnumWords({
  not_run: AttemptCheck.NOT_RUN,
  passed: AttemptCheck.PASSED,
  failed: AttemptCheck.FAILED,
});

/** Result of an attempt's check. */
export type AttemptCheckWord = (typeof attemptCheckWords.words)[number];
