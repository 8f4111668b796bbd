import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { parsedJson } from "@gennai/protocol/json-value";
import { turnOutcome } from "../session/turn-state.ts";
import type { ViewItem } from "../view/items/view-item.ts";
import { SessionView } from "../view/session-view.ts";
import { turnReport } from "../view/turn-report.ts";
import type { AgentEvent, AgentEventPlace } from "./agent-event.ts";

/** What the events of a session tell, as they come; what only an editor or the page needs is left out. */
export async function* toldEvents(events: AsyncIterable<InvokeEvent>): AsyncGenerator<AgentEvent, void> {
  const view = new SessionView();
  for await (const event of events) {
    const added = view.apply(event);
    const told = toldBy(event, added, view);
    if (told !== undefined) yield { ...placeOf(event), ...told };
  }
}

type Told = AgentEvent extends infer Each
  ? Each extends AgentEvent
    ? Omit<Each, keyof AgentEventPlace>
    : never
  : never;

function toldBy(event: InvokeEvent, added: string, view: SessionView): Told | undefined {
  const { event: body, turnId } = event;
  switch (body.case) {
    case "assistantDelta":
      return added === "" ? undefined : { type: "text", text: added };
    case "thinkingDelta":
      return added === "" ? undefined : { type: "thinking", text: added };
    case "toolOutputDelta":
      return added === "" ? undefined : { type: "output", callId: body.value.id, text: added };
    case "toolCall": {
      const { id: callId } = body.value;
      const call = view.call(callId)?.item.peek();
      return (
        call && { type: "call", callId, name: call.name, args: parsedJson(call.argumentsJson) ?? call.argumentsJson }
      );
    }
    case "toolResult": {
      const { id: callId } = body.value;
      const { name, result } = view.call(callId)?.item.peek() ?? {};
      if (name === undefined || result === undefined) return undefined;
      const { output, truncated, error, failureClass: code, exitCode } = result;
      return { type: "result", callId, name, output, truncated, error, code, exitCode };
    }
    case "confirmationRequest": {
      const { requestId } = body.value;
      const asked = view.request(requestId);
      return asked?.kind === "confirmation" ? { type: "question", requestId, question: asked.question } : undefined;
    }
    case "clientRequestResolved": {
      const { requestId } = body.value;
      return view.request(requestId)?.kind === "confirmation" ? { type: "answered", requestId } : undefined;
    }
    case "proposedChanges": {
      const proposed = view.proposal(body.value.proposalId);
      return proposed && { type: "proposal", proposal: proposed.proposal };
    }
    case "changeSetApplied":
    case "changeSetUndone":
      return {
        type: "files",
        changed: body.value.files.map(({ path }) => path),
        changeSetId: body.value.changeSetId,
        undone: body.case === "changeSetUndone",
      };
    case "status": {
      if (turnOutcome(event) === undefined) return undefined;
      const { outcome, text: answer, changedFiles: changed, refused, usage } = turnReport(view, turnId);
      return { type: "end", outcome, answer, changed, refused, usage };
    }
    default: {
      const notice = view.noticeOf(event);
      return notice && noticeEvent(notice);
    }
  }
}

function noticeEvent({ level, text, code, hint }: Extract<ViewItem, { readonly kind: "notice" }>): Told {
  return { type: "notice", level, text, code, hint };
}

function placeOf({ seq, turnId, parentToolCallId: parentCallId }: InvokeEvent): AgentEventPlace {
  return { seq: Number(seq), turnId, parentCallId };
}
