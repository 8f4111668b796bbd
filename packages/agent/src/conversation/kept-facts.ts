import type { Intent } from "@gennai/governance/intents/intent";
import { applyPlanChange, IllegalPlanChange, type PlanRecord } from "@gennai/governance/plan-record";
import { parsedJson } from "@gennai/protocol/json-value";
import * as z from "zod";
import type { ProposalReview } from "../events/proposal.ts";
import type { LoggedEvent, SessionEvent } from "../events/session-event.ts";
import { bounded } from "./compacted-text.ts";

/** Maximum characters of one request, of one refusal's arguments and reason, and of a review's note. */
const maxRequest = 1_500;
const maxArguments = 300;
const maxReason = 400;

/** How much detail is given, from the most to the least. */
interface Measure {
  /** User requests that are quoted: the first says what the session is about, the newest what is wanted now. */
  readonly requests: number;
  /** Characters of one request. */
  readonly request: number;
  /** Refusals that are listed one by one; older ones are only counted, by rule and tool. */
  readonly refusals: number;
  readonly files: number;
  readonly reviews: number;
}

const wide: Measure = { requests: 30, request: maxRequest, refusals: 100, files: 200, reviews: 30 };
const narrow: readonly Measure[] = [
  { requests: 10, request: 600, refusals: 30, files: 50, reviews: 10 },
  { requests: 5, request: 300, refusals: 10, files: 20, reviews: 5 },
];

interface Refusal {
  readonly tool: string;
  readonly argumentsJson: string;
  readonly rule: string;
  readonly reason: string;
  /** It holds only until the model has done what it says, e.g. read a file. */
  readonly retryable: boolean;
  times: number;
}

/**
 * What must survive every compaction: the user's requests, refusals, intent, plans, changed files and reviews. Taken
 * from the session's log, not from a model's summary.
 */
export class KeptFacts {
  readonly #requests: string[] = [];
  #refusals = new Map<string, Refusal>();
  /** Calls that have no result yet. */
  readonly #calls = new Map<string, { readonly tool: string; readonly argumentsJson: string; rule: string }>();
  readonly #plans = new Map<string, PlanRecord>();
  readonly #changed = new Map<string, string>();
  #reviews: string[] = [];
  #intent: Intent | undefined;

  apply({ event, time }: LoggedEvent): void {
    switch (event.type) {
      case "session-started":
        for (const { path, operation } of event.inheritedFiles ?? []) this.#changed.set(path, operation);
        break;
      case "user-message":
        if (event.parentToolCallId === undefined) this.#requests.push(bounded(event.text, maxRequest));
        break;
      case "tool-call":
        this.#calls.set(event.id, { tool: event.name, argumentsJson: event.argumentsJson, rule: "" });
        break;
      case "gate-decision": {
        const call = this.#calls.get(event.toolCallId);
        if (call !== undefined) call.rule = event.rule;
        break;
      }
      case "tool-result":
        this.#applyResult(event);
        break;
      case "intent-selected":
        this.#intent = event.intent;
        break;
      case "plan-changed":
        this.#applyPlanChange(event, time);
        break;
      case "change-set-applied":
        for (const { path, operation } of event.files) this.#changed.set(path, operation);
        break;
      case "change-set-undone":
      case "checkpoint-restored":
        for (const { path } of event.files) this.#changed.set(path, "undone by the user");
        break;
      case "proposal-review":
        this.#reviews.push(reviewLine(event.review));
        break;
      case "session-cleared":
        this.#clear();
        break;
      default:
        break;
    }
  }

  /**
   * The facts as text for the model; empty if there are none.
   * @param shown texts of user messages that the model still sees in full
   * @param room characters to aim for; exceeded if needed to mention every refusal
   */
  text(shown: ReadonlySet<string>, room: number): string {
    let text = this.#told(shown, wide);
    for (const measure of narrow) {
      if (text.length <= room) break;
      text = this.#told(shown, measure);
    }
    return text;
  }

  #told(shown: ReadonlySet<string>, measure: Measure): string {
    const sections = [
      section(
        "What the user asked for, oldest first",
        this.#requestLines(shown, measure).map((text) => `- ${text}`),
      ),
      section(
        "Calls that were refused. Each refusal still holds: do not repeat the call, and look for no way around it",
        this.#refusalLines(measure.refusals, false),
      ),
      section(
        "Calls that were refused until something else is done. Each may be made again after what it says",
        this.#refusalLines(measure.refusals, true),
      ),
      section("The intent you work under", this.#intent === undefined ? [] : intentLines(this.#intent)),
      section(
        "Plans",
        [...this.#plans.values()].map((plan) => planLine(plan)),
      ),
      section("Files that were changed", this.#changedLines(measure.files)),
      section("What the user decided about proposed changes", this.#reviews.slice(-measure.reviews)),
    ];
    return sections.filter((text) => text !== "").join("\n\n");
  }

  #applyResult(event: Extract<SessionEvent, { readonly type: "tool-result" }>): void {
    const call = this.#calls.get(event.id);
    this.#calls.delete(event.id);
    if (call === undefined || event.error === undefined || event.failureClass !== "permission_denied") return;
    const error = refusalIn(event.output);
    const rule = error?.rule ?? call.rule;
    const reason = bounded(event.error, maxReason);
    const argumentsJson = bounded(call.argumentsJson, maxArguments);
    const key = JSON.stringify([call.tool, argumentsJson, rule]);
    const known = this.#refusals.get(key);
    // Moves the entry to the end: the newest ones are listed one by one.
    this.#refusals.delete(key);
    const { retryable = false } = error ?? {};
    const times = (known?.times ?? 0) + 1;
    this.#refusals.set(key, { tool: call.tool, argumentsJson, rule, reason, retryable, times });
  }

  #applyPlanChange(event: Extract<SessionEvent, { readonly type: "plan-changed" }>, time: number): void {
    try {
      this.#plans.set(event.planId, applyPlanChange(this.#plans.get(event.planId), event.planId, event.change, time));
    } catch (error) {
      if (!(error instanceof IllegalPlanChange)) throw error;
    }
  }

  /** Plans belong to the user, not to the conversation: they survive a clear too. */
  #clear(): void {
    this.#requests.length = 0;
    this.#refusals = new Map();
    this.#calls.clear();
    this.#changed.clear();
    this.#reviews = [];
    this.#intent = undefined;
  }

  #requestLines(shown: ReadonlySet<string>, measure: Measure): readonly string[] {
    const whole = new Set([...shown].map((text) => bounded(text, maxRequest)));
    const told = this.#requests.filter((text) => !whole.has(text)).map((text) => bounded(text, measure.request));
    const [first] = told;
    if (first === undefined || told.length <= measure.requests) return told;
    const newest = told.slice(-(measure.requests - 1));
    return [first, `[${told.length - measure.requests} requests in between are left out]`, ...newest];
  }

  #refusalLines(most: number, retryable: boolean): readonly string[] {
    const all = [...this.#refusals.values()].filter((refusal) => refusal.retryable === retryable);
    const lines = all.slice(-most).map(refusalLine);
    const older = Map.groupBy(all.slice(0, -most), ({ tool, rule }) => `${tool}, by ${rule}`);
    for (const [what, refusals] of older) {
      lines.push(`- ${what}: ${refusals.reduce((sum, { times }) => sum + times, 0)} older refusals`);
    }
    return lines;
  }

  #changedLines(most: number): readonly string[] {
    const lines = [...this.#changed].map(([path, operation]) => `- ${path}: ${operation}`);
    if (lines.length <= most) return lines;
    return [...lines.slice(-most), `- and ${lines.length - most} more before them`];
  }
}

const refusalSchema = z.object({
  error: z.object({ rule: z.string().optional(), retryable: z.boolean().optional() }),
});

function refusalIn(output: string): z.infer<typeof refusalSchema>["error"] | undefined {
  return refusalSchema.safeParse(parsedJson(output)).data?.error;
}

function refusalLine({ tool, argumentsJson, rule, reason, times }: Refusal): string {
  const often = times === 1 ? "" : ` (${times} times)`;
  return `- ${tool} ${argumentsJson}: ${rule === "" ? "" : `${rule}: `}${reason}${often}`;
}

function intentLines({ id, name, ownedScope, constraints, acceptanceCriteria }: Intent): readonly string[] {
  return [
    `- ${id}: ${name}`,
    `- it may change: ${ownedScope.length === 0 ? "nothing" : ownedScope.join(", ")}`,
    ...constraints.map((text) => `- constraint: ${text}`),
    ...acceptanceCriteria.map((text) => `- done when: ${text}`),
  ];
}

function planLine(plan: PlanRecord): string {
  const steps = plan.steps.map(({ stepId, state }) => `${stepId} ${state}`).join(", ");
  const rest = plan.remediation === "" ? "" : `; to correct it: ${bounded(plan.remediation, maxReason)}`;
  return `- ${plan.planId} "${bounded(plan.title, 100)}": ${plan.state}${plan.verified ? ", verified" : ""}; steps: ${steps}${rest}`;
}

function reviewLine({ proposalId, hunks, note }: ProposalReview): string {
  const decisions = Map.groupBy(hunks, ({ decision }) => decision);
  const counts = [...decisions].map(([decision, of]) => `${of.length} ${decision}`).join(", ");
  const notes = [note, ...hunks.map((hunk) => hunk.note)].filter((text) => text !== "").join("; ");
  return `- ${proposalId}: ${counts === "" ? "nothing kept" : counts}${notes === "" ? "" : `; the user says: ${bounded(notes, maxReason)}`}`;
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${title}:\n${lines.join("\n")}`;
}
