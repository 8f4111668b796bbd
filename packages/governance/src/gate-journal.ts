import type { Risk } from "@gennai/protocol/model/governance/risk";
import type { FailureClass } from "@gennai/protocol/model/governance/tool-outcome";
import type { Connection } from "./connection.ts";
import type { Effect } from "./effect.ts";
import type { ToolOutcome, Verification } from "./tool.ts";
import type { ToolError } from "./tool-error.ts";

/** A call as the model made it. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly argumentsJson: string;
  /** Risk declared by an approved plan. It can raise the computed risk, never lower it. */
  readonly declaredRisk?: Risk;
}

/** What a person answered, or that nobody did. */
export interface GivenAnswer {
  readonly answer: "yes" | "passed-on" | "no" | "unclear" | "timeout" | "nobody";
  readonly by: string;
  readonly scope?: string;
  /** Redacted text of the pattern that the yes was given for. */
  readonly pattern?: string;
  /** Redacted names of parts of the work that this person did not want to be kept; absent where all of it was. */
  readonly dropped?: readonly string[];
  /** The other person who agreed, where two were needed, and when: milliseconds since the epoch. */
  readonly second?: { readonly by: string; readonly at: number };
  /** Who had agreed before the second person did not. */
  readonly first?: { readonly by: string };
  /** For a remembered yes: id of the call whose question was answered. */
  readonly rememberedFrom?: string;
}

/** What the gate decided about one call, for the log, the ledger and the user. */
export interface Decision {
  readonly call: ToolCall;
  readonly verdict: "allow" | "ask" | "deny";
  readonly risk: Risk;
  /** Empty for a plain allow. */
  readonly rule: string;
  readonly reason: string;
  /** Place of the rule, `file:line`; absent for a built-in one. */
  readonly place?: string;
  readonly effects: readonly Effect[];
  /** The arguments as canonical JSON, redacted. */
  readonly input: string;
  /** As the model made the call, redacted, if its form was different. */
  readonly asCalled?: string;
  /** Set when a person answered. */
  readonly confirmation?: GivenAnswer;
  /** Other questions about the same call, in order, e.g. before it ran; absent if there were none. */
  readonly alsoAsked?: readonly Decision[];
}

export interface CallOutcome {
  readonly call: ToolCall;
  /** Arguments of the tool as the policies saw them, not redacted; absent if the call never ran. */
  readonly args?: unknown;
  /** Undefined when the call never ran. */
  readonly outcome: ToolOutcome | undefined;
  /** Redacted, as the model reads it. */
  readonly output: string;
  readonly truncated: boolean;
  readonly error: ToolError | undefined;
  readonly failureClass: FailureClass | undefined;
  readonly verification: Verification;
  /** The decision on the call's changes, if they were judged separately from the call. */
  readonly found?: Decision | undefined;
  /** Decisions by a user's answer while the call ran: about connections, and about its changes. */
  readonly askedMeanwhile?: readonly Decision[];
  /** What it reached or wanted to reach, without what `reached` recorded; absent for a call that never ran. */
  readonly connections?: readonly Connection[];
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
}

/**
 * The gate's records: session log and ledger together, one transaction each.
 * Stages 6 and 9 call it; when `begin` rejects, nothing runs.
 */
export interface GateJournal {
  /** What was decided; not durable by itself. */
  decided(decision: Decision, turnId: string): void;
  /**
   * Write-ahead for calls that are about to run; durable before it resolves when any of them can change something. Of calls that
   * only read, all may be recorded with their end, whose rejection keeps what they read from the model.
   */
  begin(decisions: readonly Decision[], turnId: string): Promise<void>;
  /** What a running call reached with a login of the user; durable when it resolves. */
  reached(decision: Decision, connections: readonly Connection[], turnId: string): Promise<void>;
  /** Outcomes of calls that ran, and refusals of those that did not (`outcome` undefined). */
  end(
    outcomes: readonly { readonly decision: Decision; readonly result: CallOutcome }[],
    turnId: string,
  ): Promise<void>;
  /** Live, redacted output of a call. */
  output(callId: string, turnId: string, text: string): void;
  warn(text: string, turnId: string): void;
}
