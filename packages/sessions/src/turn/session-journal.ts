import { Buffer } from "node:buffer";
import type { SessionEvent } from "@gennai/agent/session-event";
import { isReadOnly } from "@gennai/governance/effect";
import type { CallOutcome, Decision, GateJournal } from "@gennai/governance/gate/gate-journal";
import type { LedgerCall, LedgerEntry } from "@gennai/governance/ledger/ledger-entry";
import type { Redactor } from "@gennai/governance/redaction";
import { violationOf } from "@gennai/governance/rules/violation";
import type { FileChange } from "@gennai/governance/tool";
import { describePutBack } from "@gennai/machine/control-watch/put-back";
import { withMaskedPaths } from "@gennai/machine/redaction/masked-paths";
import { readGitHead } from "@gennai/machine/workspace/git-head";
import { placeOfCommands } from "../client-workspace/place-of-commands.ts";
import type { NotedFiles } from "../context/noted-files.ts";
import type { SessionWriter } from "../session/log/session-writer.ts";
import type { Session } from "../session/session.ts";
import type { WorkspaceGovernance } from "../session/workspace-governance.ts";
import { isToolFact } from "../tools/tool-fact.ts";

/** Above this many bytes a content is a blob and the event holds only its beginning. */
const maxInlineBytes = 16 * 1024;

export interface SessionJournalOptions {
  /** The session's, or that of a sub-agent in it. */
  readonly writer: Pick<SessionWriter, "emit" | "commit">;
  readonly modelId: string;
  readonly governance: Pick<WorkspaceGovernance, "rules" | "intentMap">;
  /** Gets what the calls saw and changed. */
  readonly notes: NotedFiles;
  /** Id of the call that runs the sub-agent whose calls these are. */
  readonly parentToolCallId?: string;
  /** Calls that are not the model's, but the server's for the user: they leave no result in the conversation. */
  readonly forUser?: boolean;
}

/** The gate's records in a session's log: events and ledger entries of one step go in together. */
export class SessionJournal implements GateJournal {
  readonly #session: Session;
  readonly #options: SessionJournalOptions;
  readonly #writer: SessionJournalOptions["writer"];

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
    const entry = this.#entry("intent", decisions.map(intentCall), turnId, []);
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
    const { redactor } = this.#session.services;
    for (const { decision, result } of outcomes) {
      const each = { decision, result: await withMaskedPutBack(result, redactor) };
      const violation = violationOf(each.decision);
      if (violation !== undefined) {
        events.push({ type: "rule-violation", ...violation });
        this.#options.governance.rules.violation(violation);
      }
      (each.result.outcome === undefined ? refused : ran).push(each);
      changes.push(...(each.result.outcome?.changes ?? []));
      if ((each.result.outcome?.changes?.length ?? 0) > 0) changedBy = each.result.call.id;
      if (this.#options.forUser === true) this.#options.notes.observed(each.result.outcome?.observed ?? []);
      else events.push(await this.#resultEvent(each.result));
      events.push(...factEvents(each.result, turnId), ...putBackWarning(each.result));
    }
    const ledger: LedgerEntry[] = [];
    const named = await withMaskedPaths(changes, redactor);
    if (ran.length > 0) ledger.push(this.#entry("outcome", ran.map(outcomeCall), turnId, named));
    if (refused.length > 0) ledger.push(this.#entry("refusal", refused.map(outcomeCall), turnId, []));
    await this.#writer.commit(events, { turnId, ledger, durable: changes.length > 0 || refused.length > 0 });
    if (changes.length > 0) this.#noteChanges(changes, changedBy);
  }

  output(callId: string, turnId: string, text: string): void {
    this.#writer.emit({ type: "tool-output-delta", id: callId, text }, { turnId, itemId: `output-${callId}` });
  }

  warn(text: string, turnId: string): void {
    this.#writer.emit({ type: "warning", text }, { turnId });
  }

  /** @param callId of the last call that changed some of them */
  #noteChanges(changes: readonly FileChange[], callId: string): void {
    const { notes, governance, parentToolCallId } = this.#options;
    // The result that the session's own conversation has is that of the sub-agent's call.
    notes.changed(
      changes.map(({ path }) => path),
      parentToolCallId ?? callId,
    );
    const { activeIntentId } = this.#session.state;
    if (activeIntentId !== undefined) governance.intentMap.record(activeIntentId, changes);
  }

  async #resultEvent(result: CallOutcome): Promise<SessionEvent> {
    const { call, output, error, outcome } = result;
    const bytes = Buffer.byteLength(output);
    const blob =
      bytes > maxInlineBytes ? await this.#session.services.blobs.put(Buffer.from(output), "text/plain") : undefined;
    if (blob !== undefined) this.#session.outputs.keep(blob.sha256, output);
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

  #entry(
    kind: "intent" | "outcome" | "refusal",
    calls: readonly LedgerCall[],
    turnId: string,
    files: readonly FileChange[],
  ): LedgerEntry {
    const { id: sessionId, state, services, workspace } = this.#session;
    const { modelId, parentToolCallId } = this.#options;
    const { isolation, isolationReason } = placeOfCommands(this.#session);
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
        isolation,
        isolation_reason: isolationReason,
        ...(activeIntentId === undefined ? {} : { intent: activeIntentId }),
        ...(parentToolCallId === undefined ? {} : { parent_call: parentToolCallId }),
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
    ...(result.outcome?.putBack === undefined ? {} : { putBack: result.outcome.putBack.files }),
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

async function withMaskedPutBack(result: CallOutcome, redactor: Redactor): Promise<CallOutcome> {
  const { outcome } = result;
  if (outcome?.putBack === undefined) return result;
  const files = await withMaskedPaths(outcome.putBack.files, redactor);
  return { ...result, outcome: { ...outcome, putBack: { ...outcome.putBack, files } } };
}

/** For the user: what the model was told in the result. */
function putBackWarning({ call, outcome }: CallOutcome): readonly SessionEvent[] {
  if (outcome?.putBack === undefined) return [];
  return [{ type: "warning", text: `${call.name} changed files that tools obey: ${describePutBack(outcome.putBack)}` }];
}

function beginning(text: string): string {
  const cut = text.slice(0, maxInlineBytes / 4);
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}
