import { randomUUID } from "node:crypto";
import { Conversation } from "@gennai/agent/conversation/conversation";
import type { SessionEvent } from "@gennai/agent/events/session-event";
import type { TurnBudget } from "@gennai/agent/events/turn-budget";
import { runTurn, type TurnEnd, type TurnOptions } from "@gennai/agent/loop/turn-loop";
import type { TurnSink } from "@gennai/agent/loop/turn-sink";
import type { Model } from "@gennai/agent/model";
import type { Scenario } from "@gennai/agent/scenarios/scenario";
import type { GovernedTools } from "@gennai/governance/gate/gate";
import type { ExecutionContext, Tool } from "@gennai/governance/tool";
import type { ProjectNotes } from "../prompt/project-notes.ts";
import { turnInstructions } from "../prompt/turn-prompt.ts";
import type { Session } from "../session/session.ts";
import type { SessionWriter } from "../session/session-writer.ts";
import { createRedactingSink } from "./redacting-sink.ts";
import type { TurnHooks } from "./turn-hooks.ts";

/** Maximum model calls of a sub-agent, if the session permits more. */
const maxIterations = 100;

/** What a sub-agent shares with the turn that runs it: model, budget, rules and claims. */
export interface ParentTurn {
  readonly session: Session;
  readonly model: Model;
  readonly request: TurnOptions["request"];
  readonly budget: TurnBudget;
  readonly contextTokens: number;
  /** Ids of the turn's calls, including sub-agents'. */
  readonly callIds: Set<string>;
  readonly hooks: TurnHooks;
  /** The project's notes, as they were when the turn began. */
  readonly notes: ProjectNotes;
  /** Puts tools behind the turn's own gate; their records belong to the call that runs the sub-agent. */
  govern(
    tools: ReadonlyMap<string, Tool>,
    nested: { readonly writer: EventWriter; readonly parentToolCallId: string },
  ): GovernedTools;
}

export interface SubAgentOrder {
  /** Name of the sub-agent, else of its scenario; for users' programs. */
  readonly type: string;
  readonly prompt: string;
  readonly scenario: Scenario;
  readonly tools: ReadonlyMap<string, Tool>;
}

export interface SubAgentReport {
  readonly end: TurnEnd;
  /** Its last text, masked. */
  readonly text: string;
}

/** Runs one sub-agent, from its task to its report. Its calls pass the gate of the turn. */
export async function runSubAgent(
  place: ParentTurn,
  order: SubAgentOrder,
  context: ExecutionContext,
): Promise<SubAgentReport> {
  const { session } = place;
  const { redactor } = session.services;
  const conversation = new Conversation();
  const writer = new NestedWriter(session.writer, context.callId, conversation);
  const prompt = await redactor.redact(order.prompt);
  writer.fold({
    type: "user-message",
    text: prompt,
    scenario: order.scenario.name,
    clientTurnId: "",
    enableThinking: place.request.enableThinking,
    images: [],
  });
  const report = { text: "" };
  const sink = subAgentSink(session, writer, conversation, context, report);
  const emit = (event: SessionEvent): void => sink.emit(event);
  const run = (): Promise<TurnEnd> =>
    runTurn({
      turnId: context.turnId,
      model: place.model,
      tools: place.govern(order.tools, { writer, parentToolCallId: context.callId }),
      conversation,
      instructions: () => turnInstructions(session, order.scenario, place.notes),
      request: { ...place.request, cacheKey: `${session.id}/${context.callId}` },
      maxIterations: Math.min(session.settings.maxIterations, maxIterations),
      contextTokens: place.contextTokens,
      budget: place.budget,
      callIds: place.callIds,
      mayEnd: place.hooks.ending(emit, { id: context.callId, type: order.type }),
      mayCompact: () => place.hooks.mayCompact("auto", emit, true),
      sink,
      newItemId: randomUUID,
      signal: context.signal,
    });
  const end = await session.services.observer.subAgent(order.scenario.name, session.settings, run);
  return { end, text: report.text };
}

/** Its text is live output of the call that runs it; its calls and token use are logged as its own. */
function subAgentSink(
  session: Session,
  writer: NestedWriter,
  conversation: Conversation,
  context: ExecutionContext,
  report: { text: string },
): TurnSink {
  const emit = (event: SessionEvent, itemId?: string): void => {
    switch (event.type) {
      case "text-delta":
        writer.fold(event);
        context.onOutput(event.text);
        return;
      case "status":
      case "instructions":
        writer.fold(event);
        return;
      case "thinking-delta":
        return;
      case "final":
        report.text = event.text;
        return;
      default:
        writer.emit(event, { turnId: context.turnId, ...(itemId === undefined ? {} : { itemId }) });
    }
  };
  return createRedactingSink(
    {
      emit,
      settle: () => Promise.resolve(),
      flush: async () => {
        await session.writer.flush();
        await session.outputs.fill(conversation);
      },
    },
    session.services.redactor,
  );
}

type EventWriter = Pick<SessionWriter, "emit" | "commit">;

/**
 * Writes a sub-agent's events into the session's log, under the call that runs it, and folds them into the sub-agent's own
 * conversation only.
 */
class NestedWriter implements EventWriter {
  readonly #writer: EventWriter;
  readonly #parentToolCallId: string;
  readonly #conversation: Conversation;

  constructor(writer: EventWriter, parentToolCallId: string, conversation: Conversation) {
    this.#writer = writer;
    this.#parentToolCallId = parentToolCallId;
    this.#conversation = conversation;
  }

  emit(event: SessionEvent, place: { readonly turnId: string; readonly itemId?: string }): void {
    this.fold(event);
    // The model chooses item ids, and two sub-agents may choose the same.
    const item = place.itemId === undefined ? {} : { itemId: `${this.#parentToolCallId}/${place.itemId}` };
    this.#writer.emit(this.#marked(event), { turnId: place.turnId, ...item });
  }

  async commit(events: readonly SessionEvent[], options: Parameters<EventWriter["commit"]>[1]): Promise<void> {
    await this.#writer.commit(
      events.map((event) => this.#marked(event)),
      options,
    );
    for (const event of events) this.fold(event);
  }

  /** For events that are not logged. */
  fold(event: SessionEvent): void {
    this.#conversation.apply({ seq: 0, turnId: "", itemId: "", time: 0, event });
  }

  #marked(event: SessionEvent): SessionEvent {
    return { ...event, parentToolCallId: this.#parentToolCallId };
  }
}
