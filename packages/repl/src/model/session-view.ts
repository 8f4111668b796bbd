import { questionFromMessage, showsWhatItApproves } from "@gennai/client/bridge/confirmation";
import { proposalFromMessage } from "@gennai/client/review/proposal";
import { turnOutcome } from "@gennai/client/session/turn-state";
import {
  type ChangeSetApplied,
  type ClientRequestResolved,
  type InvokeEvent,
  InvokeState,
  type StatusEvent,
  type TokenUsage,
} from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { ChangeSets } from "./change-sets.ts";
import { ItemList, type ItemPlace, type OpenCell } from "./item-list.ts";
import { noticeOf } from "./notice.ts";
import { PlanItems } from "./plan-items.ts";
import { rulesWords } from "./rules-words.ts";
import { emptyFacts, type SessionFacts, type TurnPhase } from "./session-facts.ts";
import { StreamedText } from "./streamed-text.ts";
import { ToolCalls } from "./tool-calls.ts";
import {
  blobContent,
  clientRequest,
  emergencyFact,
  requestState,
  reviewView,
  timeOf,
  todoFromMessage,
} from "./view-from-wire.ts";
import type {
  AssistantItem,
  ClientRequestItem,
  ConfirmationItem,
  ItemCell,
  ProposalItem,
  ThinkingItem,
  ToolCallItem,
} from "./view-item.ts";

/**
 * What a session looks like: a fold over its events, and over nothing else. An event that was seen is ignored, one that
 * stands for several of which some were seen adds the rest, so that the same events in any number of overlapping replays
 * make the same view. A delta costs the same in a long session as in a short one, and touches its own item alone.
 */
export class SessionView {
  readonly #items = new ItemList();
  readonly #facts = signal<SessionFacts>(emptyFacts);
  readonly #calls = new ToolCalls(this.#items);
  readonly #texts = new Map<string, { readonly cell: OpenCell<ThinkingItem | AssistantItem>; text: StreamedText }>();
  readonly #requests = new Map<string, OpenCell<ClientRequestItem> | OpenCell<ConfirmationItem>>();
  readonly #proposals = new Map<string, OpenCell<ProposalItem>>();
  readonly #changeSets = new ChangeSets(this.#items);
  readonly #plans = new PlanItems(this.#items);
  readonly #turns = new Map<string, TurnRecord>();
  readonly #scopeRequests: ScopeRequest[] = [];
  #streaming: OpenCell<ThinkingItem | AssistantItem> | undefined;
  #lastSeq = 0n;

  get cells(): readonly ItemCell[] {
    return this.#items.cells;
  }

  /** Tells that there are more cells. */
  get count(): ReadonlySignal<number> {
    return this.#items.count;
  }

  /** Calls that asked for more than the intent owns, oldest first. `count` tells of new ones. */
  get scopeRequests(): readonly ScopeRequest[] {
    return this.#scopeRequests;
  }

  get facts(): ReadonlySignal<SessionFacts> {
    return this.#facts;
  }

  /** Newest seq that was seen. */
  get lastSeq(): bigint {
    return this.#lastSeq;
  }

  apply(event: InvokeEvent): void {
    const body = event.event;
    if (body.case === "heartbeat" || body.case === undefined) {
      this.#lastSeq = event.seq > this.#lastSeq ? event.seq : this.#lastSeq;
      return;
    }
    if (body.case === "truncated") {
      if (body.value.throughSeq <= this.#lastSeq) return;
      this.#lastSeq = body.value.throughSeq;
    } else {
      if (event.seq <= this.#lastSeq) return;
      this.#lastSeq = event.seq;
    }
    const firstSeq = event.firstSeq === 0n ? event.seq : event.firstSeq;
    const seq = body.case === "truncated" ? body.value.throughSeq : firstSeq;
    const { turnId, parentToolCallId: parentCallId } = event;
    const place: ItemPlace = { key: `${body.case}:${seq}`, seq, turnId, time: timeOf(event), parentCallId };
    this.#applyBody(event, body, place, firstSeq);
  }

  #applyBody(event: InvokeEvent, body: InvokeEvent["event"], place: ItemPlace, firstSeq: bigint): void {
    const { time, turnId } = place;
    switch (body.case) {
      case "userMessage": {
        const { text, scenario, images } = body.value;
        this.#items.add(place, { kind: "user-message", text, scenario, images: images.map(blobContent) });
        return;
      }
      case "thinkingDelta":
        return this.#addText("thinking", place, event.itemId, { firstSeq, text: body.value.text });
      case "assistantDelta":
        return this.#addText("assistant", place, event.itemId, { firstSeq, text: body.value.text });
      case "final":
        return this.#finish(place, body.value.text);
      case "toolCallStart":
        this.#settle();
        this.#calls.start(place, event.itemId, body.value);
        return this.#setPhase(turnId, "calling");
      case "toolCallDelta":
        return this.#calls.write(event.itemId, { firstSeq, text: body.value.argumentsDelta });
      case "toolCall":
        this.#settle();
        this.#askScope(this.#calls.complete(place, event.itemId, body.value));
        return;
      case "gateDecision":
        return this.#calls.decide(body.value);
      case "toolOutputDelta":
        return this.#calls.output(body.value.id, { firstSeq, text: body.value.text });
      case "toolResult":
        return this.#calls.finish(body.value, time);
      case "status":
        return this.#changeStatus(event, place, body.value);
      case "usage":
        return this.#addUsage(place, body.value);
      case "confirmationRequest": {
        const { requestId } = body.value;
        const item: ConfirmationItem = {
          ...{ kind: "confirmation", requestId, question: questionFromMessage(body.value) },
          ...{ genuine: showsWhatItApproves(body.value), answeredBy: "" },
          state: event.resolved ? "answered" : "open",
        };
        this.#requests.set(requestId, this.#items.add(place, item));
        return;
      }
      case "requestFileRead":
      case "workspaceRequest":
      case "executeCommandRequest":
      case "applyChangesRequest":
      case "modelCallRequest":
      case "diagnosticsRequest":
      case "listWorkspaceRequest":
      case "findSymbolsRequest": {
        const asked = clientRequest(body);
        if (asked === undefined) return;
        const state = event.resolved ? "answered" : "open";
        const item: ClientRequestItem = { kind: "client-request", ...asked, state, answeredBy: "" };
        this.#requests.set(asked.requestId, this.#items.add(place, item));
        return;
      }
      case "clientRequestResolved":
        return this.#resolve(body.value);
      case "proposedChanges": {
        const proposal = proposalFromMessage(body.value);
        const item: ProposalItem = { kind: "proposal", proposal, review: undefined, changeSetId: undefined };
        this.#proposals.set(proposal.proposalId, this.#items.add(place, item));
        return;
      }
      case "proposalReview":
        return change(this.#proposals.get(body.value.proposalId), { review: reviewView(body.value) });
      case "changeSetApplied":
        return this.#applyChangeSet(place, body.value);
      case "changeSetUndone":
        return this.#changeSets.undo(place, body.value.changeSetId);
      case "planChanged":
        return this.#plans.change(place, body.value);
      case "todosChanged":
        return this.#setFacts({ todos: body.value.items.map(todoFromMessage) });
      case "sessionStarted": {
        const { workingDir, forkedFrom } = body.value;
        this.#setFacts({ workingDir, forkedFrom });
        break;
      }
      case "sessionCleared":
        this.#setFacts({ todos: [] });
        break;
      case "intentSelected": {
        const intent = body.value.intent;
        if (intent === undefined) return;
        const { id, name, status, selectable } = intent;
        this.#setFacts({ intent: { id, name, status, selectable } });
        break;
      }
      case "rulesChanged": {
        const { count = 0, text = "", lastViolation = "", problems = [] } = body.value.status ?? {};
        this.#setFacts({ rules: { count, text: rulesWords(text), lastViolation, problems } });
        break;
      }
      case "emergencyChanged":
        this.#setFacts({ emergency: emergencyFact(body.value.state) });
        break;
      case "ruleViolation":
        // The call itself says why it was stopped.
        if (this.#calls.has(body.value.toolCallId)) return;
        break;
      case "settingsChanged":
      case "contextAdded":
      case "conversationCompacted":
      case "checkpointRestored":
      case "truncated":
      case "warning":
      case "error":
        break;
      case "sessionRenamed":
        return this.#setFacts({ title: body.value.title });
      case "checkpointClosed":
        if (body.value.files.length > 0) this.#turn(turnId, time).changedFiles = true;
        return;
      case "checkpointTaken":
      case "checkpointRestoring":
      // The subscription unpacks them.
      case "batch":
      case "heartbeat":
      case undefined:
        return;
    }
    const notice = noticeOf(event);
    if (notice !== undefined) this.#items.add(place, notice);
  }

  #addText(
    kind: "thinking" | "assistant",
    place: ItemPlace,
    itemId: string,
    piece: { readonly firstSeq: bigint; readonly text: string },
  ): void {
    const key = `${kind}:${itemId}`;
    let record = itemId === "" ? undefined : this.#texts.get(key);
    if (record === undefined) {
      this.#settle();
      const cell = this.#items.add<ThinkingItem | AssistantItem>(place, { kind, text: "", streaming: true });
      record = { cell, text: new StreamedText() };
      this.#texts.set(itemId === "" ? place.key : key, record);
    }
    if (this.#streaming !== record.cell) this.#settle();
    this.#streaming = record.cell;
    record.text.add(piece);
    record.cell.item.value = { kind, text: record.text.text, streaming: true };
    if (kind === "assistant") this.#turn(place.turnId, place.time).answered = true;
  }

  /** The text that was being streamed is whole. */
  #settle(): void {
    if (this.#streaming !== undefined) change(this.#streaming, { streaming: false });
    this.#streaming = undefined;
  }

  #finish(place: ItemPlace, text: string): void {
    this.#settle();
    // Some models do not stream: their answer comes with the end alone.
    if (text !== "" && !this.#turn(place.turnId, place.time).answered) {
      this.#items.add(place, { kind: "assistant", text, streaming: false });
    }
  }

  #changeStatus(event: InvokeEvent, place: ItemPlace, status: StatusEvent): void {
    const { turnId, time } = place;
    const ended = turnOutcome(event);
    const turn = this.#turn(turnId, time);
    if (ended !== undefined) {
      this.#settle();
      this.#texts.clear();
      this.#calls.endTurn(turnId, time);
      const changedFiles = this.#changeSets.endTurn(place) || turn.changedFiles;
      const { inputTokens, outputTokens, began } = turn;
      const duration = time === undefined || began === undefined ? undefined : time.getTime() - began.getTime();
      const used = { inputTokens, outputTokens, changedFiles };
      this.#items.add(place, { kind: "turn-end", turnId, outcome: ended, duration, ...used });
      this.#turns.delete(turnId);
      if (this.#facts.value.turn?.turnId === turnId) this.#setFacts({ turn: undefined });
      return;
    }
    if (status.state === InvokeState.THINKING) {
      this.#settle();
      turn.answered = false;
      turn.iteration = status.iteration;
    }
    if (status.state === InvokeState.RUN_TOOL) this.#calls.run(status.toolCallId, time);
    const phase = phases[status.state];
    if (phase !== undefined) this.#setPhase(turnId, phase, status.toolName);
  }

  #askScope(call: ItemCell<ToolCallItem>): void {
    if (call.item.peek().name !== "request_scope_expansion") return;
    this.#scopeRequests.push({ call, intentId: this.#facts.peek().intent?.id ?? "" });
  }

  #setPhase(turnId: string, phase: TurnPhase, toolName = ""): void {
    const turn = this.#turn(turnId, undefined);
    this.#setFacts({ turn: { turnId, phase, toolName, iteration: turn.iteration, since: turn.began } });
  }

  #addUsage({ turnId, parentCallId }: ItemPlace, message: TokenUsage): void {
    const { inputTokens, outputTokens, maxContextTokens, modelId, cost, currency, estimated } = message;
    const turn = this.#turn(turnId, undefined);
    turn.inputTokens += inputTokens;
    turn.outputTokens += outputTokens;
    const { usage } = this.#facts.value;
    // A sub-agent and a summary have a context of their own.
    const own = parentCallId === "" && !message.forCompaction;
    this.#setFacts({
      usage: {
        ...usage,
        inputTokens: usage.inputTokens + inputTokens,
        outputTokens: usage.outputTokens + outputTokens,
        ...(own ? { contextTokens: inputTokens + outputTokens, maxContextTokens, modelId } : {}),
        ...(cost === undefined ? {} : { cost: (usage.cost ?? 0) + cost, currency }),
        estimated: usage.estimated || estimated,
      },
    });
  }

  #resolve({ requestId, resolution, clientId }: ClientRequestResolved): void {
    const cell = this.#requests.get(requestId);
    const fields = { state: requestState(resolution), answeredBy: clientId };
    if (cell !== undefined) change<ClientRequestItem | ConfirmationItem>(cell, fields);
  }

  #applyChangeSet(place: ItemPlace, message: ChangeSetApplied): void {
    const { proposalId, changeSetId } = message;
    if (proposalId !== "") change(this.#proposals.get(proposalId), { changeSetId });
    this.#changeSets.apply(place, message, this.#turns.has(changeSetId));
  }

  #turn(turnId: string, time: Date | undefined): TurnRecord {
    const known = this.#turns.get(turnId);
    if (known !== undefined) return known;
    const turn = { began: time, iteration: 0, answered: false, inputTokens: 0, outputTokens: 0, changedFiles: false };
    this.#turns.set(turnId, turn);
    return turn;
  }

  #setFacts(fields: Partial<SessionFacts>): void {
    this.#facts.value = { ...this.#facts.value, ...fields };
  }
}

export interface ScopeRequest {
  readonly call: ItemCell<ToolCallItem>;
  /** The intent it was under; empty when under none. */
  readonly intentId: string;
}

interface TurnRecord {
  readonly began: Date | undefined;
  iteration: number;
  /** The newest model call said something. */
  answered: boolean;
  inputTokens: number;
  outputTokens: number;
  /** By commands: what was around them differs. */
  changedFiles: boolean;
}

function change<Item extends object>(cell: { readonly item: Signal<Item> } | undefined, fields: Partial<Item>): void {
  if (cell !== undefined) cell.item.value = { ...cell.item.value, ...fields };
}

const phases: Partial<Record<InvokeState, TurnPhase>> = {
  [InvokeState.STARTED]: "started",
  [InvokeState.THINKING]: "thinking",
  [InvokeState.WAITING_TOOL_RESULT]: "calling",
  [InvokeState.RUN_TOOL]: "running",
  [InvokeState.WAITING_FOR_CLIENT]: "waiting-for-client",
};
