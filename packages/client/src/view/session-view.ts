import { timestampDate } from "@bufbuild/protobuf/wkt";
import {
  type ChangeSetApplied,
  type InvokeEvent,
  InvokeState,
  type StatusEvent,
} from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { asksEditor, requestFromEvent } from "@gennai/protocol/model/session/editor-messages";
import { appliedFileFromMessage, blobFromMessage } from "@gennai/protocol/model/session/proposal";
import { type ReadonlySignal, signal } from "@preact/signals-core";
import { type TurnPhase, turnOutcome, turnPhase } from "../session/turn-state.ts";
import { meterAfter } from "../session/usage-meter.ts";
import { factsAfter } from "./facts-after.ts";
import { ChangeSetItems, type StandingChangeSet } from "./items/change-set-items.ts";
import { ItemList, type ItemStart, type OpenCell } from "./items/item-list.ts";
import { PlanItems } from "./items/plan-items.ts";
import { ProposalItems } from "./items/proposal-items.ts";
import { RequestItems } from "./items/request-items.ts";
import { TextItems } from "./items/text-items.ts";
import { ToolCallItems } from "./items/tool-call-items.ts";
import { timeOf } from "./items/view-from-wire.ts";
import type {
  ClientRequestItem,
  ConfirmationItem,
  ItemCell,
  NoticeItem,
  ProposalItem,
  ToolCallItem,
} from "./items/view-item.ts";
import { noticeOf } from "./notice.ts";
import { emptyFacts, type RunningTurn, type SessionFacts } from "./session-facts.ts";
import { TurnRecords } from "./turn-records.ts";

/**
 * The view of a session, made only from its events. A repeated event is ignored; of an event that covers several, some of them
 * seen, only the rest is added, so that the same events give the same view after any number of overlapping replays. A delta
 * changes only its own item, and its cost does not depend on the session's length.
 */
export class SessionView {
  readonly #items = new ItemList();
  readonly #facts = signal<SessionFacts>(emptyFacts);
  readonly facts: ReadonlySignal<SessionFacts> = this.#facts;
  readonly #texts = new TextItems(this.#items);
  readonly #calls = new ToolCallItems(this.#items);
  readonly #requests = new RequestItems(this.#items);
  readonly #proposals = new ProposalItems(this.#items);
  readonly #changeSets = new ChangeSetItems(this.#items);
  readonly #plans = new PlanItems(this.#items);
  readonly #turns = new TurnRecords();
  readonly #scopeRequests: ScopeRequest[] = [];
  /** As the last status says, without the questions beside it. */
  #running: RunningTurn | undefined;
  #lastSeq = 0n;
  #lastNotice: OpenCell<NoticeItem> | undefined;
  #waitsForProvider = false;

  get cells(): readonly ItemCell[] {
    return this.#items.cells;
  }

  /** Changes when cells are added. */
  get count(): ReadonlySignal<number> {
    return this.#items.count;
  }

  /** Calls that asked for more scope than the intent has, oldest first. `count` changes with new ones. */
  get scopeRequests(): readonly ScopeRequest[] {
    return this.#scopeRequests;
  }

  /** The newest call of that id: models may use an id again. */
  call(callId: string): ItemCell<ToolCallItem> | undefined {
    return this.#calls.of(callId);
  }

  /** What an editor or a person was asked. */
  request(requestId: string): ClientRequestItem | ConfirmationItem | undefined {
    return this.#requests.of(requestId);
  }

  proposal(proposalId: string): ProposalItem | undefined {
    return this.#proposals.of(proposalId);
  }

  /** The line that an event added, just after it was applied; undefined: it added none. */
  noticeOf(event: InvokeEvent): NoticeItem | undefined {
    const cell = this.cells.at(-1);
    const item = cell?.item.peek();
    return item?.kind === "notice" && cell?.key === placeOf(event).key ? item : undefined;
  }

  /** Change sets that were not taken back, oldest first. */
  get changeSets(): readonly StandingChangeSet[] {
    return this.#changeSets.standing;
  }

  /** Newest sequence number that was seen. */
  get lastSeq(): bigint {
    return this.#lastSeq;
  }

  /** @returns what it adds to a text that is streamed; empty: nothing */
  apply(event: InvokeEvent): string {
    const body = event.event;
    if (body.case === "heartbeat" || body.case === undefined) {
      this.#lastSeq = event.seq > this.#lastSeq ? event.seq : this.#lastSeq;
      return "";
    }
    if (body.case === "truncated") {
      if (body.value.throughSeq <= this.#lastSeq) return "";
      this.#lastSeq = body.value.throughSeq;
    } else {
      if (event.seq <= this.#lastSeq) return "";
      this.#lastSeq = event.seq;
    }
    const firstSeq = event.firstSeq === 0n ? event.seq : event.firstSeq;
    const place = placeOf(event);
    const before = this.#facts.peek();
    this.#facts.value = factsAfter(before, event);
    if (this.#facts.peek().questions !== before.questions) this.#setTurn(this.#running);
    const added = this.#addText(event, place, firstSeq);
    if (added !== undefined) return added;
    if (!saysOnlyOfViolation(body, before)) this.#applyBody(event, body, place, firstSeq);
    return "";
  }

  /** undefined: the event is no piece of a text that people read as it comes. */
  #addText({ event: body, itemId }: InvokeEvent, place: ItemStart, firstSeq: bigint): string | undefined {
    switch (body.case) {
      case "thinkingDelta":
        return this.#texts.stream("thinking", place, itemId, { firstSeq, text: body.value.text });
      case "assistantDelta":
        this.#turns.of(place.turnId, place.time).answered = true;
        return this.#texts.stream("assistant", place, itemId, { firstSeq, text: body.value.text });
      case "toolOutputDelta":
        return this.#calls.output(body.value.id, { firstSeq, text: body.value.text });
      default:
        return undefined;
    }
  }

  #applyBody(event: InvokeEvent, body: InvokeEvent["event"], place: ItemStart, firstSeq: bigint): void {
    const { time, turnId } = place;
    if (asksEditor(body)) return this.#requests.ask(place, requestFromEvent(body), event.resolved);
    switch (body.case) {
      case "userMessage": {
        const { text, scenario, images } = body.value;
        this.#items.add(place, { kind: "user-message", text, scenario, images: images.map(blobFromMessage) });
        return;
      }
      case "final":
        return this.#finish(place, body.value.text);
      case "toolCallStart":
        this.#texts.settle();
        this.#calls.start(place, event.itemId, body.value);
        return this.#setPhase(turnId, "calling");
      case "toolCallDelta":
        return this.#calls.write(event.itemId, { firstSeq, text: body.value.argumentsDelta });
      case "toolCall":
        this.#texts.settle();
        this.#askScope(this.#calls.complete(place, event.itemId, body.value));
        return;
      case "gateDecision":
        return this.#calls.decide(body.value);
      case "toolResult":
        return this.#calls.finish(body.value, time);
      case "status":
        return this.#changeStatus(event, place, body.value);
      case "usage": {
        const turn = this.#turns.of(turnId);
        turn.usage = meterAfter(turn.usage, body.value, place.parentCallId);
        return;
      }
      case "confirmationRequest":
        return this.#requests.confirm(place, body.value, event.resolved);
      case "clientRequestResolved":
        return this.#requests.resolve(body.value);
      case "proposedChanges":
        return this.#proposals.propose(place, body.value);
      case "proposalReview":
        return this.#proposals.review(body.value);
      case "changeSetApplied":
        return this.#applyChangeSet(place, body.value);
      case "changeSetUndone":
        this.#proposals.undone(body.value.changeSetId);
        return this.#changeSets.undo(place, body.value);
      case "planChanged":
        return this.#plans.change(place, body.value);
      case "todosChanged":
      case "sessionRenamed":
      case "turnContinued":
      case "messageQueued":
      case "messageWithdrawn":
      // The store of open questions tracks their countdown.
      case "clientRequestWaits":
        return;
      case "ruleViolation":
        // The call itself shows why it was stopped.
        this.#calls.violate(body.value.toolCallId, this.#facts.peek().violation);
        if (this.#calls.of(body.value.toolCallId) !== undefined) return;
        break;
      case "intentSelected":
        if (body.value.intent === undefined) return;
        break;
      case "branchChanged":
      case "sessionStarted":
      case "sessionCleared":
      case "rulesChanged":
      case "emergencyChanged":
      case "settingsChanged":
      case "contextAdded":
      case "conversationCompacted":
      case "checkpointRestored":
      case "truncated":
      case "warning":
      case "error":
        break;
      case "checkpointClosed":
        for (const { path } of body.value.files) this.#turns.of(turnId, time).changedByCommands.add(path);
        return;
      // What runs besides the session's turns has a list of its own.
      case "attemptsChanged":
      case "backgroundRunChanged":
      case "checkpointTaken":
      case "checkpointRestoring":
      case "workspaceRequest":
      case "instructionsTold":
      // Added above.
      case "thinkingDelta":
      case "assistantDelta":
      case "toolOutputDelta":
      // The subscription unpacks them.
      case "batch":
      case "heartbeat":
      case undefined:
        return;
    }
    const notice = noticeOf(event);
    if (notice !== undefined) this.#addNotice(place, notice);
  }

  /** The provider is asked again, and again: that is one row. */
  #addNotice(place: ItemStart, notice: NoticeItem): void {
    const last = this.#lastNotice;
    const isNext = this.#waitsForProvider && notice.level === "warning";
    if (isNext && last !== undefined && this.#items.cells.at(-1) === last) last.item.value = notice;
    else this.#lastNotice = this.#items.add(place, notice);
    this.#waitsForProvider = false;
  }

  #finish(place: ItemStart, text: string): void {
    this.#texts.settle();
    // Some models do not stream: their answer is only in the last event.
    if (text !== "" && !this.#turns.of(place.turnId, place.time).answered) this.#texts.answer(place, text);
  }

  #changeStatus(event: InvokeEvent, place: ItemStart, status: StatusEvent): void {
    const { turnId, time } = place;
    const ended = turnOutcome(event);
    const turn = this.#turns.of(turnId, time);
    if (ended !== undefined) {
      this.#texts.endTurn();
      this.#calls.endTurn(turnId, time);
      const own = this.#changeSets.endTurn(place).map(({ path }) => path);
      const { usage, changedByCommands, began } = turn;
      const duration = time === undefined || began === undefined ? undefined : time.getTime() - began.getTime();
      const changed = {
        changedFiles: [...new Set([...own, ...changedByCommands])],
        commandsChangedFiles: changedByCommands.size > 0,
      };
      this.#items.add(place, { kind: "turn-end", turnId, outcome: ended, duration, usage, ...changed });
      this.#turns.end(turnId);
      if (this.#running?.turnId === turnId) this.#setTurn(undefined);
      return;
    }
    if (status.state === InvokeState.THINKING) {
      this.#texts.settle();
      turn.answered = false;
      turn.iteration = status.iteration;
    }
    if (status.state === InvokeState.RUN_TOOL) this.#calls.run(status.toolCallId, turnId, time);
    if (status.state === InvokeState.WAITING_FOR_PROVIDER) this.#waitsForProvider = true;
    const phase = turnPhase(status.state);
    const until = status.until === undefined ? undefined : timestampDate(status.until);
    if (phase !== undefined) this.#setPhase(turnId, phase, { toolName: status.toolName, until });
  }

  #askScope(call: ItemCell<ToolCallItem>): void {
    if (call.item.peek().name !== "request_scope_expansion") return;
    this.#scopeRequests.push({ call, intentId: this.#facts.peek().intent?.id ?? "" });
  }

  #setPhase(
    turnId: string,
    phase: TurnPhase,
    { toolName = "", until }: { readonly toolName?: string; readonly until?: Date | undefined } = {},
  ): void {
    const { iteration, began } = this.#turns.of(turnId);
    this.#setTurn({ turnId, phase, toolName, iteration, since: began, until });
  }

  #setTurn(running: RunningTurn | undefined): void {
    this.#running = running;
    const facts = this.#facts.peek();
    const isAsked = running !== undefined && facts.questions.size > 0;
    this.#facts.value = { ...facts, turn: isAsked ? { ...running, phase: "waiting-for-person" } : running };
  }

  #applyChangeSet(place: ItemStart, message: ChangeSetApplied): void {
    const { proposalId, changeSetId, toolCallId } = message;
    if (toolCallId !== "") this.#calls.changed(toolCallId, message.files.map(appliedFileFromMessage));
    if (proposalId !== "") this.#proposals.applied(proposalId, changeSetId);
    this.#changeSets.apply(place, message, this.#turns.has(changeSetId));
  }
}

function placeOf(event: InvokeEvent): ItemStart {
  const { event: body, firstSeq, turnId, parentToolCallId: parentCallId } = event;
  const seq = body.case === "truncated" ? body.value.throughSeq : firstSeq === 0n ? event.seq : firstSeq;
  return { key: `${body.case}:${seq}`, seq, turnId, time: timeOf(event), parentCallId };
}

/** True if the status only repeats a violation, which the refused call shows itself, and the rules are unchanged. */
function saysOnlyOfViolation(body: InvokeEvent["event"], { rules }: SessionFacts): boolean {
  if (body.case !== "rulesChanged") return false;
  const { count = 0, text = "", lastViolation = "", problems = [] } = body.value.status ?? {};
  if (problems.length > 0 || problems.length !== (rules?.problems.length ?? 0)) return false;
  return rules === undefined ? lastViolation !== "" && text.endsWith(lastViolation) : rules.count === count;
}

export interface ScopeRequest {
  readonly call: ItemCell<ToolCallItem>;
  /** The intent that was active; empty: none. */
  readonly intentId: string;
}
