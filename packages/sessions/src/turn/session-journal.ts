import { Buffer } from "node:buffer";
import type { SessionEvent } from "@gennai/agent/events/session-event";
import type { Connection } from "@gennai/governance/connection";
import { isReadOnly } from "@gennai/governance/effect";
import type { CallOutcome, Decision, GateJournal } from "@gennai/governance/gate-journal";
import type { LedgerCall, LedgerEntry } from "@gennai/governance/ledger/ledger-entry";
import { violationOf } from "@gennai/governance/rules/violation";
import type { FileChange, ToolOutcome } from "@gennai/governance/tool";
import { readGitHead } from "@gennai/machine/git-data/git-head";
import { withMaskedPaths } from "@gennai/machine/redaction/masked-paths";
import { knownHead } from "@gennai/machine/workspace/known-head";
import type { BlobRef } from "@gennai/protocol/model/session/proposal";
import { placeOfCommands } from "../client-workspace/held-by-client.ts";
import type { NotedFiles } from "../context/noted-files.ts";
import type { Session } from "../session/session.ts";
import type { SessionWriter } from "../session/session-writer.ts";
import { keptOutputPath } from "../session/state/kept-output-name.ts";
import type { WorkspaceGovernance } from "../session/workspace-governance.ts";
import { headAndTail, mostShown } from "../tools/kept-output.ts";
import { isToolFact, type ToolFact } from "../tools/tool-fact.ts";
import { asCalled, askedUser, intentCall, onlyReads, outcomeCall, recordedConnections } from "./recorded-calls.ts";

/** Larger contents become a blob, and the event has only their beginning. */
const maxInlineBytes = 16 * 1024;

export interface SessionJournalOptions {
  /** The session's writer, or that of a sub-agent. */
  readonly writer: Pick<SessionWriter, "emit" | "commit">;
  readonly modelId: string;
  /** Who made the calls, where no model did. */
  readonly askedBy?: "user" | undefined;
  readonly governance: Pick<WorkspaceGovernance, "rules" | "intentMap">;
  /** Records what the calls read and changed. */
  readonly notes: NotedFiles;
  /** Id of the call that runs the sub-agent of these calls. */
  readonly parentToolCallId?: string;
  /** Calls by the server for the user: they leave no result in the conversation. */
  readonly forUser?: boolean;
  /** For calls by another agent: its name, and its id for its session. */
  readonly guarded?: { readonly agent: string; readonly agentSession: string };
}

/** Writes the gate's records to a session's log: events and ledger entries of one step together. */
export class SessionJournal implements GateJournal {
  readonly #session: Session;
  readonly #options: SessionJournalOptions;
  readonly #writer: SessionJournalOptions["writer"];
  /** Ids of running calls that have no record before their end. */
  readonly #onlyRead = new Set<string>();
  /** Change sets logged before their call's end. */
  readonly #recorded = new WeakSet<object>();

  constructor(session: Session, options: SessionJournalOptions) {
    this.#session = session;
    this.#options = options;
    this.#writer = options.writer;
  }

  decided(decision: Decision, turnId: string): void {
    const { call, verdict, risk, rule, reason } = decision;
    this.#writer.emit(
      { type: "gate-decision", toolCallId: call.id, toolName: call.name, verdict, risk, rule, reason },
      { turnId },
    );
  }

  async begin(decisions: readonly Decision[], turnId: string): Promise<void> {
    const shown = this.#options.forUser === true ? [] : decisions;
    const events = shown.map(
      ({ call }): SessionEvent => ({
        type: "status",
        state: "run-tool",
        iteration: 0,
        toolName: call.name,
        toolCallId: call.id,
      }),
    );
    if (this.#options.guarded === undefined && decisions.every(onlyReads)) {
      // Such calls change nothing: one record covers everything, written before the result is passed on.
      for (const { call } of decisions) this.#onlyRead.add(call.id);
      for (const event of events) this.#writer.emit(event, { turnId });
      return;
    }
    const entry = this.#entry("intent", decisions.map(intentCall), turnId, [], asCalled(decisions));
    const durable = decisions.some((decision) => !decision.effects.every(isReadOnly));
    await this.#writer.commit(events, { turnId, ledger: [entry], durable });
  }

  async reached(decision: Decision, connections: readonly Connection[], turnId: string): Promise<void> {
    // Written before its changes are judged: there may be a question whose end this process does not see.
    const entry = this.#entry("intent", [{ ...intentCall(decision), ...recordedConnections(connections) }], turnId, []);
    await this.#writer.commit([], { turnId, ledger: [entry], durable: true });
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
    const { redactor } = this.#session.services;
    for (const each of outcomes) {
      const { decision } = each;
      for (const judged of [...(decision.alsoAsked ?? []), decision]) {
        const violation = violationOf(judged);
        if (violation === undefined) continue;
        events.push({ type: "rule-violation", ...violation });
        this.#options.governance.rules.violation(violation);
      }
      (each.result.outcome === undefined ? refused : ran).push(each);
      const { changes: its = [], apart = false } = each.result.outcome ?? {};
      if (!apart && its.length > 0) {
        changes.push(...its);
        changedBy = each.result.call.id;
      }
      const told = this.#factEvents(each.result, turnId);
      // Its changes are shown while the call is still running.
      events.push(...told.filter(({ type }) => type === "change-set-applied"));
      if (this.#options.forUser === true) this.#options.notes.observed(each.result.outcome?.observed ?? []);
      else if (!this.#isLeftOpen(each.result)) events.push(await this.#resultEvent(each.result));
      events.push(...told.filter(({ type }) => type !== "change-set-applied"));
    }
    const ledger: LedgerEntry[] = [];
    const named = await withMaskedPaths(changes, redactor);
    const details = { ...askedUser(ran), ...this.#wholeStep(ran.map(({ decision }) => decision)) };
    if (ran.length > 0) ledger.push(this.#entry("outcome", ran.map(outcomeCall), turnId, named, details));
    if (refused.length > 0) ledger.push(this.#entry("refusal", refused.map(outcomeCall), turnId, []));
    for (const { result } of outcomes) this.#onlyRead.delete(result.call.id);
    await this.#writer.commit(events, { turnId, ledger, durable: changes.length > 0 || refused.length > 0 });
    if (changes.length > 0) this.#noteChanges(changes, changedBy);
  }

  /** Records what a call has written before a long step: durable when it resolves. The record of its end does not repeat it. */
  async changed(callId: string, { facts = [] }: Pick<ToolOutcome, "facts">, turnId: string): Promise<void> {
    const events = facts.flatMap((fact) =>
      isToolFact(fact) && fact.type === "change-set" ? [this.#changeSet(fact, callId, turnId)] : [],
    );
    if (events.length === 0) return;
    await this.#writer.commit(events, { turnId, durable: true });
    for (const fact of facts) if (typeof fact === "object" && fact !== null) this.#recorded.add(fact);
  }

  output(callId: string, turnId: string, text: string): void {
    this.#writer.emit({ type: "tool-output-delta", id: callId, text }, { turnId, itemId: `output-${callId}` });
  }

  warn(text: string, turnId: string): void {
    this.#writer.emit({ type: "warning", text }, { turnId });
  }

  /** @param callId of the last call that changed one of them */
  #noteChanges(changes: readonly FileChange[], callId: string): void {
    const { notes, governance, parentToolCallId } = this.#options;
    // In the session's own conversation, the result is that of the sub-agent's call.
    notes.changed(
      changes.map(({ path }) => path),
      parentToolCallId ?? callId,
    );
    const { activeIntentId } = this.#session.state;
    if (activeIntentId !== undefined) governance.intentMap.record(activeIntentId, changes);
  }

  /** A call cut short by a shutdown has no result, as after a kill: the turn that continues decides about it. */
  #isLeftOpen({ error }: CallOutcome): boolean {
    return this.#session.turns.isLeaving && error?.code === "stopped";
  }

  async #resultEvent(result: CallOutcome): Promise<SessionEvent> {
    const { call, error, outcome } = result;
    const { output, whole } = await this.#shown(result);
    const bytes = Buffer.byteLength(output);
    const blob =
      bytes > maxInlineBytes ? await this.#session.services.blobs.put(Buffer.from(output), "text/plain") : undefined;
    if (blob !== undefined) this.#session.outputs.keep(blob.sha256, output);
    const shown = error === undefined ? (outcome?.images ?? []) : [];
    const images = await Promise.all(
      shown.map(({ bytes: picture, mediaType }) => this.#session.services.blobs.put(picture, mediaType)),
    );
    return {
      type: "tool-result",
      id: call.id,
      name: call.name,
      output: blob === undefined ? output : beginning(output),
      ...(error === undefined ? {} : { error: error.message }),
      truncated: result.truncated || whole !== undefined,
      ...(blob === undefined ? {} : { outputBlob: blob }),
      ...(whole === undefined ? {} : { wholeOutput: whole }),
      ...(images.length === 0 ? {} : { images }),
      verification: result.verification.state,
      ...(outcome?.exitCode === undefined ? {} : { exitCode: outcome.exitCode }),
      ...(result.failureClass === undefined ? {} : { failureClass: result.failureClass }),
      observed: outcome?.observed ?? [],
    };
  }

  /** The part of a result for the model, and the whole if that is longer. */
  async #shown({ call, output }: CallOutcome): Promise<{ readonly output: string; readonly whole?: BlobRef }> {
    if (output.length <= mostShown) return { output };
    const whole = await this.#session.services.blobs.put(Buffer.from(output), "text/plain");
    const path = keptOutputPath(whole.sha256);
    const where =
      call.name === "Read"
        ? "Read it in smaller parts, with offset and limit, or Grep it."
        : `All of it is kept: Read ${path} with offset and limit, or Grep it with path ${path}.`;
    return { output: headAndTail(output, where), whole };
  }

  /** Events for what a tool reported besides its output. */
  #factEvents({ call, outcome }: CallOutcome, turnId: string): readonly SessionEvent[] {
    const events: SessionEvent[] = [];
    for (const fact of outcome?.facts ?? []) {
      if (!isToolFact(fact) || this.#recorded.has(fact)) continue;
      switch (fact.type) {
        case "change-set":
          if (outcome?.apart !== true) events.push(this.#changeSet(fact, call.id, turnId));
          break;
        case "proposal":
          events.push({ type: "proposed-changes", proposal: fact.proposal });
          break;
        case "user-asked":
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

  /** All writes of a turn form one change set, named after the turn. */
  #changeSet(
    { files, directories = [], refs = [] }: Extract<ToolFact, { readonly type: "change-set" }>,
    callId: string,
    turnId: string,
  ): SessionEvent {
    const head = knownHead(this.#session.workspace);
    this.#session.seen.storeLastWritten(files);
    return {
      type: "change-set-applied",
      changeSetId: turnId,
      files,
      ...(directories.length === 0 ? {} : { directories }),
      ...(refs.length === 0 ? {} : { refs }),
      toolCallId: callId,
      ...(head.type === "branch" ? { branch: head.branch } : {}),
    };
  }

  /** Further details of the outcome, for calls that have no other record. */
  #wholeStep(ran: readonly Decision[]): LedgerEntry["details"] {
    return ran.every(({ call }) => this.#onlyRead.has(call.id)) ? { ...asCalled(ran), only_reads: true } : {};
  }

  #entry(
    kind: "intent" | "outcome" | "refusal",
    calls: readonly LedgerCall[],
    turnId: string,
    files: readonly FileChange[],
    details: LedgerEntry["details"] = {},
  ): LedgerEntry {
    const { id: sessionId, state, services, workspace } = this.#session;
    const { modelId, askedBy, parentToolCallId, guarded } = this.#options;
    const { isolation, isolationReason } =
      guarded === undefined
        ? placeOfCommands(this.#session)
        : { isolation: "unsandboxed", isolationReason: `${guarded.agent} runs its commands itself` };
    const { activeIntentId } = state;
    const planStep = state.planStepOf(turnId);
    const head = readGitHead(workspace.controlRoot);
    return {
      kind,
      time: services.now(),
      sessionId,
      turnId,
      modelId,
      revision: (head.type === "none" ? undefined : head.commit) ?? "",
      calls: planStep === undefined ? calls : calls.map((call) => ({ ...call, planStep })),
      files,
      details: {
        ...details,
        isolation,
        isolation_reason: isolationReason,
        ...(activeIntentId === undefined ? {} : { intent: activeIntentId }),
        ...(askedBy === undefined ? {} : { asked_by: askedBy }),
        ...(parentToolCallId === undefined ? {} : { parent_call: parentToolCallId }),
        ...(guarded === undefined ? {} : { agent: guarded.agent, agent_session: guarded.agentSession }),
      },
    };
  }
}

function beginning(text: string): string {
  const cut = text.slice(0, maxInlineBytes / 4);
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}
