import { Buffer } from "node:buffer";
import type { SessionEvent } from "@gennai/agent/session-event";
import { isReadOnly } from "@gennai/governance/effect";
import type { CallOutcome, Decision, GateJournal } from "@gennai/governance/gate/gate-journal";
import type { LedgerCall, LedgerEntry } from "@gennai/governance/ledger/ledger-entry";
import { type RuleViolation, violationOf } from "@gennai/governance/rules/violation";
import type { FileChange } from "@gennai/governance/tool";
import { isToolFact } from "../../tools/tool-fact.ts";
import type { BlobStore } from "../log/session-log.ts";
import type { SessionWriter } from "../log/session-writer.ts";

/** Above this many bytes a content is a blob and the event holds only its beginning. */
const maxInlineBytes = 16 * 1024;

export interface LedgerContext {
  readonly sessionId: string;
  readonly modelId: string;
  /** Commit the workspace stands on; empty without git. */
  readonly revision: () => Promise<string>;
  /** Id of the intent the session works under. */
  readonly intent: () => string | undefined;
  /** Id of the plan step that a turn is carrying out right now. */
  readonly planStep: (turnId: string) => string | undefined;
  /** Id of the call that runs the sub-agent whose calls these are. */
  readonly parentCall?: string;
  readonly isolation: "sandboxed" | "unsandboxed";
  /** Why, e.g. what is not installed. */
  readonly isolationReason: string;
}

/** Who wants to know what was recorded. Nothing waits for it, and it must not throw. */
export interface JournalObserver {
  /** A large output, so that the model reads it without a look at the disk. */
  kept(sha256: string, text: string): void;
  /**
   * Files that changed on disk.
   * @param callId of the last call that changed some of them
   */
  changed(changes: readonly FileChange[], callId: string): void;
  /** Set for calls that are not the model's, but the server's for the user: they leave no result in the conversation. */
  readonly ownResult?: (result: CallOutcome) => void;
  violation(violation: RuleViolation): void;
}

/** The gate's records in a session's log: events and ledger entries of one step go in together. */
export class SessionJournal implements GateJournal {
  readonly #writer: Pick<SessionWriter, "emit" | "commit">;
  readonly #blobs: BlobStore;
  readonly #context: LedgerContext;
  readonly #now: () => number;
  readonly #observe: JournalObserver;

  constructor(options: {
    readonly writer: Pick<SessionWriter, "emit" | "commit">;
    readonly blobs: BlobStore;
    readonly context: LedgerContext;
    readonly now: () => number;
    readonly observe: JournalObserver;
  }) {
    this.#writer = options.writer;
    this.#blobs = options.blobs;
    this.#context = options.context;
    this.#now = options.now;
    this.#observe = options.observe;
  }

  decided(decision: Decision, turnId: string): void {
    const { call, verdict, risk, rule, reason } = decision;
    this.#writer.emit(
      { type: "gate-decision", toolCallId: call.id, toolName: call.name, verdict, risk, rule, reason },
      { turnId },
    );
  }

  async begin(decisions: readonly Decision[], turnId: string): Promise<void> {
    const shown = this.#observe.ownResult === undefined ? decisions : [];
    const events = shown.map(
      ({ call }): SessionEvent => ({
        type: "status",
        state: "run-tool",
        iteration: 0,
        toolName: call.name,
        toolCallId: call.id,
      }),
    );
    const entry = await this.#entry("intent", decisions.map(intentCall), turnId, []);
    const durable = decisions.some((decision) => !decision.effects.every(isReadOnly));
    await this.#writer.commit(events, { turnId, ledger: [entry], durable });
  }

  async end(
    outcomes: readonly { readonly decision: Decision; readonly result: CallOutcome }[],
    turnId: string,
  ): Promise<void> {
    const events: SessionEvent[] = [];
    const ran: { readonly decision: Decision; readonly result: CallOutcome }[] = [];
    const refused: typeof ran = [];
    const changes: FileChange[] = [];
    let changedBy = "";
    for (const each of outcomes) {
      const violation = violationOf(each.decision);
      if (violation !== undefined) {
        events.push({ type: "rule-violation", ...violation });
        this.#observe.violation(violation);
      }
      (each.result.outcome === undefined ? refused : ran).push(each);
      changes.push(...(each.result.outcome?.changes ?? []));
      if ((each.result.outcome?.changes?.length ?? 0) > 0) changedBy = each.result.call.id;
      if (this.#observe.ownResult === undefined) events.push(await this.#resultEvent(each.result));
      else this.#observe.ownResult(each.result);
      events.push(...factEvents(each.result, turnId));
    }
    const ledger: LedgerEntry[] = [];
    if (ran.length > 0) ledger.push(await this.#entry("outcome", ran.map(outcomeCall), turnId, changes));
    if (refused.length > 0) ledger.push(await this.#entry("refusal", refused.map(outcomeCall), turnId, []));
    await this.#writer.commit(events, { turnId, ledger, durable: changes.length > 0 || refused.length > 0 });
    if (changes.length > 0) this.#observe.changed(changes, changedBy);
  }

  output(callId: string, turnId: string, text: string): void {
    this.#writer.emit({ type: "tool-output-delta", id: callId, text }, { turnId, itemId: `output-${callId}` });
  }

  warn(text: string, turnId: string): void {
    this.#writer.emit({ type: "warning", text }, { turnId });
  }

  async #resultEvent(result: CallOutcome): Promise<SessionEvent> {
    const { call, output, error, outcome } = result;
    const bytes = Buffer.byteLength(output);
    const blob = bytes > maxInlineBytes ? await this.#blobs.put(Buffer.from(output), "text/plain") : undefined;
    if (blob !== undefined) this.#observe.kept(blob.sha256, output);
    return {
      type: "tool-result",
      id: call.id,
      name: call.name,
      output: blob === undefined ? output : beginning(output),
      ...(error === undefined ? {} : { error: error.message }),
      truncated: result.truncated,
      ...(blob === undefined ? {} : { outputBlob: blob }),
      verification: result.verification.state,
      ...(outcome?.exitCode === undefined ? {} : { exitCode: outcome.exitCode }),
      ...(result.failureClass === undefined ? {} : { failureClass: result.failureClass }),
      observed: outcome?.observed ?? [],
    };
  }

  async #entry(
    kind: "intent" | "outcome" | "refusal",
    calls: readonly LedgerCall[],
    turnId: string,
    files: readonly FileChange[],
  ): Promise<LedgerEntry> {
    const planStep = this.#context.planStep(turnId);
    return {
      kind,
      time: this.#now(),
      sessionId: this.#context.sessionId,
      turnId,
      modelId: this.#context.modelId,
      revision: await this.#context.revision(),
      calls: planStep === undefined ? calls : calls.map((call) => ({ ...call, planStep })),
      files,
      details: {
        isolation: this.#context.isolation,
        isolation_reason: this.#context.isolationReason,
        ...(this.#context.intent() === undefined ? {} : { intent: this.#context.intent() }),
        ...(this.#context.parentCall === undefined ? {} : { parent_call: this.#context.parentCall }),
      },
    };
  }
}

function intentCall(decision: Decision): LedgerCall {
  const { call, input, verdict, rule, risk, confirmation } = decision;
  return {
    callId: call.id,
    tool: call.name,
    input,
    verdict,
    rule,
    risk,
    ...(confirmation === undefined ? {} : { confirmation: recordedAnswer(confirmation) }),
  };
}

function recordedAnswer({
  rememberedFrom,
  ...answer
}: NonNullable<Decision["confirmation"]>): NonNullable<LedgerCall["confirmation"]> {
  return { ...answer, ...(rememberedFrom === undefined ? {} : { remembered_from: rememberedFrom }) };
}

function outcomeCall({ decision, result }: { readonly decision: Decision; readonly result: CallOutcome }): LedgerCall {
  return {
    ...intentCall(decision),
    started: new Date(result.startedAt).toISOString(),
    stopped: new Date(result.endedAt).toISOString(),
    ...(result.outcome?.exitCode === undefined ? {} : { exitCode: result.outcome.exitCode }),
    ...(result.failureClass === undefined ? {} : { failureClass: result.failureClass }),
    verification: result.verification.state,
  };
}

/** What a tool told the session beside its output. All writes of a turn are one change set, named after the turn. */
function factEvents(result: CallOutcome, turnId: string): readonly SessionEvent[] {
  const events: SessionEvent[] = [];
  for (const fact of result.outcome?.facts ?? []) {
    if (!isToolFact(fact)) continue;
    switch (fact.type) {
      case "change-set":
        events.push({ type: "change-set-applied", changeSetId: turnId, files: fact.files });
        break;
      case "proposal":
        events.push({ type: "proposed-changes", proposal: fact.proposal });
        break;
      case "todos":
        events.push({ type: "todos-changed", items: fact.items });
        break;
      case "intent-selected":
        events.push({ type: "intent-selected", intent: fact.intent, context: fact.context });
        break;
    }
  }
  return events;
}

function beginning(text: string): string {
  const cut = text.slice(0, maxInlineBytes / 4);
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}
