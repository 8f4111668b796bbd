import {
  FailureClass as FailureClassMessage,
  Verdict as VerdictMessage,
  VerificationState,
} from "../../gen/gennai/agent/v1/governance_pb.ts";
import { EnumWords } from "../enum-words.ts";

/** What the gate decided about a call. */
export const verdictWords = new EnumWords({
  allow: VerdictMessage.ALLOW,
  ask: VerdictMessage.ASK,
  deny: VerdictMessage.DENY,
});

/** A verdict that is not known here is read as a refusal. */
export function verdictFromMessage(message: VerdictMessage): (typeof verdictWords.words)[number] {
  return verdictWords.fromMessage(message) ?? "deny";
}

/** Whether the world was looked at after a call. */
export const verificationWords = new EnumWords({
  verified: VerificationState.VERIFIED,
  unverified: VerificationState.UNVERIFIED,
  failed: VerificationState.FAILED,
});

/** Why a call failed. */
export const failureClassWords = new EnumWords({
  permission_denied: FailureClassMessage.PERMISSION_DENIED,
  tool_unavailable: FailureClassMessage.TOOL_UNAVAILABLE,
  command_error: FailureClassMessage.COMMAND_ERROR,
  timeout: FailureClassMessage.TIMEOUT,
  partial_execution: FailureClassMessage.PARTIAL_EXECUTION,
});

export type FailureClass = (typeof failureClassWords.words)[number];

/** Nothing failed: UNSPECIFIED. */
export function failureClassToMessage(failure: FailureClass | undefined): FailureClassMessage {
  return failure === undefined ? FailureClassMessage.UNSPECIFIED : failureClassWords.toMessage(failure);
}
