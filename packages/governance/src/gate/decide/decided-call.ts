import type { Risk } from "@gennai/protocol/model/governance/risk";
import type { FailureClass } from "@gennai/protocol/model/governance/tool-outcome";
import type { Answer } from "../../confirmation.ts";
import type { Effect } from "../../effect.ts";
import type { CallOutcome, Decision, ToolCall } from "../../gate-journal.ts";
import type { Policy, PolicyInput } from "../../policy.ts";
import type { Redactor } from "../../redaction.ts";
import type { Analysis, CallContext, Tool } from "../../tool.ts";
import { type ToolError, toolErrorFromFinding } from "../../tool-error.ts";
import type { Verdict } from "../../verdict.ts";
import type { CallRunner } from "./call-runner.ts";
import type { FiredPolicy } from "./run-policies.ts";

/** What one call is, what it would do, and whether it is allowed. */
export type DecidedCall =
  | {
      readonly type: "decided";
      readonly call: ToolCall;
      readonly tool: Tool;
      readonly args: unknown;
      readonly analysis: Analysis;
      readonly verdict: Verdict;
      /** Every policy that asks or denies, not only the strictest. */
      readonly fired: readonly FiredPolicy[];
      readonly risk: Risk;
      /** Arguments as canonical JSON, whole; for the person who approves. */
      readonly argumentsJson: string;
      /** The same, redacted; for every record. */
      readonly input: string;
      /** As the model made it, redacted, if its form was different. */
      readonly asCalled?: string;
      readonly warnings: readonly string[];
    }
  /** Not a call that could run: unknown tool, bad arguments, or its analysis failed. */
  | {
      readonly type: "invalid";
      readonly call: ToolCall;
      readonly error: ToolError;
      readonly failureClass: FailureClass;
      readonly effects: readonly Effect[];
      readonly input: string;
    };

export type Decided = DecidedCall & { readonly type: "decided" };

export interface DecideOptions {
  readonly sessionId: string;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly policies: readonly Policy[];
  readonly redactor: Redactor;
  /** Milliseconds a policy may take; then it counts as failed. */
  readonly policyTimeoutMs: number;
  readonly runner?: Pick<CallRunner, "analyse">;
  /** A user's program has changed the arguments once. */
  readonly isChanged?: true;
}

/** The call as policies see it. */
export function policyInput(
  { call, tool, args, analysis }: Pick<Decided, "call" | "tool" | "args" | "analysis">,
  { turnId }: Pick<CallContext, "turnId">,
  { sessionId }: Pick<DecideOptions, "sessionId">,
): PolicyInput {
  return { callId: call.id, toolName: tool.name, args, access: tool.access, analysis, sessionId, turnId };
}

/** Why a call does not run. */
export interface Refusal {
  readonly error: ToolError;
  readonly failureClass: FailureClass;
}

/** A call on its way through the stages; `refusal` is set once it is clear that it does not run. */
export interface AdmittedCall {
  readonly decision: Decision;
  readonly decided: Decided | undefined;
  readonly refusal: Refusal | undefined;
}

export const stopped = notPermitted({
  code: "stopped",
  message: "The turn was stopped, so this call did not run.",
  retryable: false,
});

export const changedAfterApproval = notPermitted({
  code: "changed_after_approval",
  message: "What this call would do changed while it was being approved, so it did not run.",
  rule: "gate/confirm",
  hint: "Call it again.",
  retryable: true,
});

export const gateFailed = notPermitted({
  code: "gate_failed",
  message: "The gate could not decide about this call, so it did not run.",
  rule: "gate/failure",
  retryable: false,
});

export function notPermitted(error: ToolError): Refusal {
  return { error, failureClass: "permission_denied" };
}

export function settled(decided: DecidedCall): AdmittedCall {
  if (decided.type === "invalid") {
    return {
      decision: decisionOf(decided, undefined),
      decided: undefined,
      refusal: { error: decided.error, failureClass: decided.failureClass },
    };
  }
  const { verdict } = decided;
  return {
    decision: decisionOf(decided, undefined),
    decided,
    refusal: verdict.type === "deny" ? notPermitted(toolErrorFromFinding(verdict.finding)) : undefined,
  };
}

export function refused(call: ToolCall, decided: DecidedCall | undefined, refusal: Refusal): AdmittedCall {
  const decision: Decision =
    decided === undefined
      ? {
          call,
          verdict: "deny",
          risk: "high",
          rule: refusal.error.rule ?? "gate/stopped",
          reason: refusal.error.message,
          effects: [],
          input: "",
        }
      : { ...decisionOf(decided, undefined), verdict: "deny", reason: refusal.error.message };
  return { decision, decided: undefined, refusal };
}

/** @param what a person was asked about, and what does not happen now */
export function refusedByAnswer(
  decided: Decided,
  answer: Exclude<Answer, { readonly type: "yes" }>,
  what: AskedFor = { name: "call", outcome: "it did not run" },
): AdmittedCall {
  const rule = decided.verdict.type === "allow" ? "gate/confirm" : decided.verdict.finding.rule;
  const { code, message } = refusalBy(answer, what);
  return {
    decision: { ...decisionOf(decided, answer), verdict: "deny" },
    decided: undefined,
    refusal: notPermitted({
      code,
      message,
      rule,
      hint: "Do not repeat this call; choose another way or ask the user.",
      retryable: false,
    }),
  };
}

interface AskedFor {
  readonly name: string;
  readonly outcome: string;
}

/** Changes of a call that are not visible yet. */
export const foundWork: AskedFor = { name: "change", outcome: "nothing of it was kept" };

function refusalBy(
  answer: Parameters<typeof refusedByAnswer>[1],
  { name, outcome }: AskedFor,
): Pick<ToolError, "code" | "message"> {
  switch (answer.type) {
    case "no":
      return {
        code: "user_denied",
        message: `${answer.first === undefined ? "User" : "The second person"} denied execution${answer.reason === "" ? "" : `: ${answer.reason}`}`,
      };
    case "unclear":
      return { code: "unclear_answer", message: `The answer was neither yes nor no, so ${outcome}.` };
    case "timeout":
      return {
        code: "confirmation_timeout",
        message: `${answer.first === undefined ? "Nobody" : "No second person"} answered the question in time, so ${outcome}.`,
      };
    case "passed-on":
    case "nobody":
      return {
        code: "nobody_to_ask",
        message: `This ${name} needs a person's yes and nobody can be asked, so ${outcome}.`,
      };
  }
}

export function decisionOf(decided: DecidedCall, answer: Answer | undefined): Decision {
  if (decided.type === "invalid") {
    return {
      call: decided.call,
      verdict: "deny",
      risk: "low",
      rule: decided.error.rule ?? `tool/${decided.error.code}`,
      reason: decided.error.message,
      effects: decided.effects,
      input: decided.input,
    };
  }
  const finding = decided.verdict.type === "allow" ? undefined : decided.verdict.finding;
  return {
    call: decided.call,
    verdict: decided.verdict.type,
    risk: decided.risk,
    rule: finding?.rule ?? "",
    reason: finding?.reason ?? "",
    ...(finding?.place === undefined ? {} : { place: finding.place }),
    effects: decided.analysis.effects,
    input: decided.input,
    ...(decided.asCalled === undefined ? {} : { asCalled: decided.asCalled }),
    ...(answer === undefined
      ? {}
      : {
          confirmation: {
            answer: answer.type,
            by: "by" in answer ? answer.by : "",
            ...(answer.type === "yes" ? { scope: answer.scope } : {}),
            ...(answer.type === "yes" && answer.second !== undefined ? { second: answer.second } : {}),
            ...("first" in answer ? { first: answer.first } : {}),
            ...(answer.type === "yes" && answer.remembered !== undefined
              ? { rememberedFrom: answer.remembered.callId }
              : {}),
          },
        }),
  };
}

/** The decision in the record of a call's end: the last one, with all earlier questions. */
export function finalDecision(admitted: AdmittedCall, result: CallOutcome): Decision {
  const last = lastDecision(admitted, result);
  const others = [admitted.decision, ...(result.askedMeanwhile ?? [])].filter(
    // The answer is the same object wherever one decision became another.
    ({ confirmation }) => confirmation !== undefined && confirmation !== last.confirmation,
  );
  return others.length === 0 ? last : { ...last, alsoAsked: others };
}

/** A call that was admitted and did not run after all was refused, whatever had been decided. */
function lastDecision({ decision, refusal }: AdmittedCall, { outcome, error, found }: CallOutcome): Decision {
  if (found !== undefined) return found;
  if (refusal !== undefined || outcome !== undefined || error === undefined) return decision;
  const { place: _, ...rest } = decision;
  return { ...rest, verdict: "deny", rule: error.rule ?? "gate/stopped", reason: error.message };
}
