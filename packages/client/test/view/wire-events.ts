import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  ChangeOperation,
  type InvokeEvent,
  InvokeEventSchema,
  InvokeState,
} from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { ViewItem } from "#view/items/view-item";
import { SessionView } from "#view/session-view";

type Body = NonNullable<MessageInitShape<typeof InvokeEventSchema>["event"]>;

/** Writes a session's log as a server sends it: one number for each event. */
export class EventLog {
  readonly events: InvokeEvent[] = [];

  add(turnId: string, event: Body, itemId = ""): this {
    const seq = BigInt(this.events.length + 1);
    const time = { seconds: 1_700_000_000n + seq, nanos: 0 };
    this.events.push(create(InvokeEventSchema, { event, turnId, itemId, seq, firstSeq: seq, time }));
    return this;
  }

  status(turnId: string, state: InvokeState, fields: { toolName?: string; toolCallId?: string } = {}): this {
    return this.add(turnId, { case: "status", value: { state, iteration: 1, ...fields } });
  }
}

/** Events `from` to the end as a replay sends them: neighbouring deltas of one item joined where `joins` says so. */
export function replay(events: readonly InvokeEvent[], from: number, joins: (index: number) => boolean): InvokeEvent[] {
  const sent: InvokeEvent[] = [];
  for (const [index, event] of events.entries()) {
    if (index < from) continue;
    const last = sent.at(-1);
    const joined = last !== undefined && index > from && joins(index) ? join(last, event) : undefined;
    if (joined === undefined) sent.push(event);
    else sent[sent.length - 1] = joined;
  }
  return sent;
}

function join(first: InvokeEvent, second: InvokeEvent): InvokeEvent | undefined {
  if (first.itemId === "" || first.itemId !== second.itemId || first.turnId !== second.turnId) return undefined;
  const [a, b] = [first.event, second.event];
  const { turnId, itemId, seq, time } = second;
  const place = { turnId, itemId, seq, firstSeq: first.firstSeq, ...(time === undefined ? {} : { time }) };
  const joined = (event: Body) => create(InvokeEventSchema, { ...place, event });
  if (a.case === "assistantDelta" && b.case === "assistantDelta") {
    return joined({ case: "assistantDelta", value: { text: a.value.text + b.value.text } });
  }
  if (a.case === "thinkingDelta" && b.case === "thinkingDelta") {
    return joined({ case: "thinkingDelta", value: { text: a.value.text + b.value.text } });
  }
  if (a.case === "toolOutputDelta" && b.case === "toolOutputDelta") {
    return joined({ case: "toolOutputDelta", value: { id: a.value.id, text: a.value.text + b.value.text } });
  }
  if (a.case === "toolCallDelta" && b.case === "toolCallDelta") {
    const argumentsDelta = a.value.argumentsDelta + b.value.argumentsDelta;
    return joined({ case: "toolCallDelta", value: { id: a.value.id, argumentsDelta } });
  }
  return undefined;
}

/** A turn with most of what can happen in one. */
export function fullTurn(log: EventLog, turnId: string): EventLog {
  log.status(turnId, InvokeState.STARTED);
  log.add(turnId, { case: "userMessage", value: { text: `do ${turnId}`, scenario: "CODE" } });
  log.status(turnId, InvokeState.THINKING);
  for (const text of ["I ", "think ", "so."])
    log.add(turnId, { case: "thinkingDelta", value: { text } }, `${turnId}-think`);
  for (const text of ["Let ", "me ", "look"])
    log.add(turnId, { case: "assistantDelta", value: { text } }, `${turnId}-say`);
  log.add(turnId, { case: "toolCallStart", value: { id: "call_0", name: "Bash" } }, "call_0");
  for (const argumentsDelta of ['{"comm', 'and":"ls', ' -l"}']) {
    log.add(turnId, { case: "toolCallDelta", value: { id: "call_0", argumentsDelta } }, "call_0");
  }
  const call = { id: "call_0", name: "Bash", argumentsJson: '{"command":"ls -l"}' };
  log.add(turnId, { case: "toolCall", value: call }, "call_0");
  log.add(turnId, { case: "usage", value: { inputTokens: 10, outputTokens: 5 } });
  log.status(turnId, InvokeState.WAITING_TOOL_RESULT);
  log.add(turnId, { case: "gateDecision", value: { toolCallId: "call_0", toolName: "Bash", verdict: 1, risk: 1 } });
  log.status(turnId, InvokeState.RUN_TOOL, { toolName: "Bash", toolCallId: "call_0" });
  for (const text of ["a\n", "b\n", "c\n"]) {
    log.add(turnId, { case: "toolOutputDelta", value: { id: "call_0", text } }, "output-call_0");
  }
  log.add(turnId, { case: "toolResult", value: { id: "call_0", output: "a\nb\nc\n", exitCode: 0 } });
  const file = { path: "a.ts", operation: ChangeOperation.UPDATE, beforeSha256: "1", afterSha256: "2" };
  log.add(turnId, { case: "changeSetApplied", value: { changeSetId: turnId, files: [file] } });
  log.add(turnId, { case: "requestFileRead", value: { requestId: `r-${turnId}`, path: "a.ts" } });
  log.add(turnId, {
    case: "clientRequestResolved",
    value: { requestId: `r-${turnId}`, resolution: 1, clientId: "me" },
  });
  log.add(turnId, { case: "todosChanged", value: { items: [{ id: "1", content: turnId, status: 2 }] } });
  log.add(turnId, { case: "planChanged", value: { planId: "p", state: 1, title: "Plan", text: "made" } });
  log.add(turnId, { case: "planChanged", value: { planId: "p", state: 5, stepId: "s1", stepState: 2, text: "runs" } });
  log.add(turnId, { case: "assistantDelta", value: { text: "All " } }, `${turnId}-end`);
  log.add(turnId, { case: "assistantDelta", value: { text: "done." } }, `${turnId}-end`);
  log.add(turnId, { case: "final", value: { text: "All done." } });
  return log.status(turnId, InvokeState.COMPLETED);
}

export function viewOf(events: readonly InvokeEvent[]): SessionView {
  const view = new SessionView();
  for (const event of events) view.apply(event);
  return view;
}

export const itemsOf = (log: EventLog): readonly ViewItem[] => viewOf(log.events).cells.map(({ item }) => item.value);

export function ofKind<Kind extends ViewItem["kind"]>(items: readonly ViewItem[], kind: Kind) {
  return items.filter((item): item is Extract<ViewItem, { kind: Kind }> => item.kind === kind);
}
