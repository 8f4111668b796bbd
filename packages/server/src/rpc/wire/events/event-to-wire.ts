import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ClientRequest } from "@gennai/agent/events/client-request";
import type { LoggedEvent, SessionEvent, TurnState } from "@gennai/agent/events/session-event";
import { violationWords } from "@gennai/governance/rules/violation";
import {
  ContextState,
  type InvokeEvent,
  InvokeEventSchema,
  InvokeState,
  RequestResolution,
} from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { emergencyControlWords, emergencyToMessage } from "@gennai/protocol/model/governance/emergency";
import { answerWords, questionToMessage, scopeWords } from "@gennai/protocol/model/governance/question";
import { riskWords } from "@gennai/protocol/model/governance/risk";
import { failureClassToMessage, verdictWords, verificationWords } from "@gennai/protocol/model/governance/tool-outcome";
import { skippedFileToMessage } from "@gennai/protocol/model/session/checkpoint";
import { requestToEvent } from "@gennai/protocol/model/session/editor-messages";
import { appliedFileToMessage, blobToMessage, changeToMessage } from "@gennai/protocol/model/session/proposal";
import { todoToMessage } from "@gennai/protocol/model/session/todo";
import { operationToWire } from "../workspace-wire.ts";
import { backgroundRecordToWire } from "./background-run-wire.ts";
import { intentToWire, rulesStatusToWire } from "./governance-wire.ts";
import { planChangeToWire } from "./plan-wire.ts";
import { reviewToWire } from "./review-wire.ts";
import { compactedToWire, usageSumToWire, usageToWire } from "./usage-wire.ts";

type WireEvent = NonNullable<MessageInitShape<typeof InvokeEventSchema>["event"]>;

/**
 * A logged event for clients.
 *
 * @param firstSeq smaller than the event's own seq if it covers several deltas
 * @param resolved true if the event is a closed request
 */
export function eventToWire(logged: LoggedEvent, firstSeq: number, resolved: boolean): InvokeEvent {
  const { event } = logged;
  return create(InvokeEventSchema, {
    firstSeq: BigInt(firstSeq),
    seq: BigInt(logged.seq),
    turnId: logged.turnId,
    itemId: logged.itemId,
    time: timestampFromMs(logged.time),
    resolved,
    parentToolCallId: event.parentToolCallId,
    event: bodyToWire(event),
    errorInfo: errorInfo(event),
  });
}

function errorInfo(event: SessionEvent) {
  if (event.type === "error") return event;
  if (event.type !== "warning" || event.code === undefined) return undefined;
  return { code: event.code, message: event.text, hint: event.hint };
}

export function heartbeat(): InvokeEvent {
  return create(InvokeEventSchema, { event: { case: "heartbeat", value: {} } });
}

const states: Record<TurnState, InvokeState> = {
  started: InvokeState.STARTED,
  thinking: InvokeState.THINKING,
  "run-tool": InvokeState.RUN_TOOL,
  "waiting-tool-result": InvokeState.WAITING_TOOL_RESULT,
  "waiting-for-client": InvokeState.WAITING_FOR_CLIENT,
  "waiting-for-tree": InvokeState.WAITING_FOR_TREE,
  "waiting-for-provider": InvokeState.WAITING_FOR_PROVIDER,
  completed: InvokeState.COMPLETED,
  error: InvokeState.ERROR,
  cancelled: InvokeState.CANCELLED,
  interrupted: InvokeState.INTERRUPTED,
};

const resolutions = {
  answered: RequestResolution.ANSWERED,
  timeout: RequestResolution.TIMEOUT,
  cancelled: RequestResolution.CANCELLED,
} as const;

const contextStates = {
  included: ContextState.INCLUDED,
  cut: ContextState.CUT,
  refused: ContextState.REFUSED,
} as const;

/** In full instructions, empty parts are left out; in a change, an empty part means that it was removed. */
function partsTold({ whole, sections }: Extract<SessionEvent, { readonly type: "instructions" }>): string[] {
  return sections.filter(({ text }) => !whole || text !== "").map(({ name }) => name);
}

/** A field of the same name and type goes as it is; what a message has no field for is left out of it. */
function bodyToWire(event: SessionEvent): WireEvent {
  switch (event.type) {
    case "status": {
      const until = event.until === undefined ? undefined : timestampFromMs(event.until);
      return { case: "status", value: { ...event, state: states[event.state], until } };
    }
    case "thinking-delta":
      return { case: "thinkingDelta", value: event };
    case "text-delta":
      return { case: "assistantDelta", value: event };
    case "tool-call-start":
      return { case: "toolCallStart", value: event };
    case "tool-call-delta":
      return { case: "toolCallDelta", value: { id: event.id, argumentsDelta: event.text } };
    case "tool-call":
      return { case: "toolCall", value: event };
    case "tool-output-delta":
      return { case: "toolOutputDelta", value: event };
    case "tool-result": {
      // People get all of it, also where the model got less.
      const whole = event.wholeOutput ?? event.outputBlob;
      return {
        case: "toolResult",
        value: {
          ...event,
          verification: verificationWords.toMessage(event.verification),
          failureClass: failureClassToMessage(event.failureClass),
          outputBlob: whole && blobToMessage(whole),
          images: (event.images ?? []).map(blobToMessage),
        },
      };
    }
    case "gate-decision": {
      const [verdict, risk] = [verdictWords.toMessage(event.verdict), riskWords.toMessage(event.risk)];
      return { case: "gateDecision", value: { ...event, verdict, risk } };
    }
    case "usage":
      return { case: "usage", value: usageToWire(event) };
    case "final": {
      const { text, thinking, sessionUsage } = event;
      const usages = { usage: usageToWire(event), sessionUsage: sessionUsage && usageSumToWire(sessionUsage) };
      return { case: "final", value: { text, thinking, ...usages } };
    }
    case "answer-dropped":
      return { case: "warning", value: `${event.reason} What it had said is dropped, and it is asked again.` };
    case "model-note":
    case "call-note":
      return { case: "warning", value: event.text };
    case "compacted":
      return { case: "conversationCompacted", value: compactedToWire(event) };
    case "instructions":
      return { case: "instructionsTold", value: { whole: event.whole, parts: partsTold(event) } };
    case "session-renamed":
      return { case: "sessionRenamed", value: event };
    case "warning":
      return { case: "warning", value: event.text };
    case "error":
      return { case: "error", value: event.message };
    case "user-message":
      return { case: "userMessage", value: { ...event, images: event.images.map(blobToMessage) } };
    case "turn-continued":
      return { case: "turnContinued", value: event };
    case "message-queued":
      return { case: "messageQueued", value: { ...event, images: event.images.map(blobToMessage) } };
    case "message-withdrawn":
      return { case: "messageWithdrawn", value: event };
    case "client-request":
      return requestToWire(event.request);
    case "client-request-waits":
      return { case: "clientRequestWaits", value: event };
    case "client-request-resolved": {
      const { reply } = event;
      return {
        case: "clientRequestResolved",
        value: {
          ...event,
          resolution: resolutions[event.resolution],
          answer: reply && answerWords.toMessage(reply.answer),
          scope: reply?.answer === "yes" ? scopeWords.toMessage(reply.scope) : undefined,
        },
      };
    }
    case "todos-changed":
      return { case: "todosChanged", value: { items: event.items.map(todoToMessage) } };
    case "proposed-changes": {
      const { changes, warnings, ...proposal } = event.proposal;
      const value = { ...proposal, changes: changes.map(changeToMessage), warnings: [...warnings] };
      return { case: "proposedChanges", value };
    }
    case "proposal-review":
      return { case: "proposalReview", value: reviewToWire(event.review) };
    case "change-set-applied":
      return { case: "changeSetApplied", value: { ...event, files: event.files.map(appliedFileToMessage) } };
    case "change-set-undone":
      return { case: "changeSetUndone", value: { ...event, files: event.files.map(appliedFileToMessage) } };
    case "checkpoint-taken":
      return { case: "checkpointTaken", value: event };
    case "checkpoint-closed": {
      const { checkpointId, files, more: moreFiles } = event;
      return { case: "checkpointClosed", value: { checkpointId, files: files.map(appliedFileToMessage), moreFiles } };
    }
    case "checkpoint-restoring":
      return { case: "checkpointRestoring", value: { ...event, files: event.files.map(appliedFileToMessage) } };
    case "checkpoint-restored": {
      const [files, skipped] = [event.files.map(appliedFileToMessage), event.skipped.map(skippedFileToMessage)];
      return { case: "checkpointRestored", value: { ...event, files, skipped } };
    }
    case "background-run":
      return { case: "backgroundRunChanged", value: { run: backgroundRecordToWire(event.run) } };
    case "branch-changed": {
      const { branch, how, before } = event;
      const created = how === "created";
      const value = { branch, created, before: before?.branch ?? "", beforeCommit: before?.commit ?? "" };
      return { case: "branchChanged", value };
    }
    case "attempts-changed":
      return { case: "attemptsChanged", value: { attemptsId: event.attemptsId, number: event.attempt } };
    case "session-started":
      return { case: "sessionStarted", value: { workingDir: event.workingDir, forkedFrom: event.forkedFrom ?? "" } };
    case "emergency-changed": {
      const [state, control] = [emergencyToMessage(event.state), emergencyControlWords.toMessage(event.control)];
      return { case: "emergencyChanged", value: { ...event, state, control } };
    }
    case "rule-violation":
      return { case: "ruleViolation", value: { ...event, words: violationWords(event) } };
    case "intent-selected":
      return { case: "intentSelected", value: { intent: intentToWire(event.intent) } };
    case "rules-changed":
      return { case: "rulesChanged", value: { status: rulesStatusToWire(event.status) } };
    case "plan-changed":
      return { case: "planChanged", value: planChangeToWire(event.planId, event.change) };
    case "session-cleared":
      return { case: "sessionCleared", value: {} };
    case "context-added": {
      const items = event.items.map(({ name, state, reason }) => ({ name, state: contextStates[state], reason }));
      return { case: "contextAdded", value: { items } };
    }
    case "settings-changed": {
      const { backend, model, editingMode } = event.settings;
      const summary = `${backend}${model === "" ? "" : `/${model}`}, ${editingMode} mode`;
      return { case: "settingsChanged", value: { summary } };
    }
  }
}

export function requestToWire(request: ClientRequest): WireEvent {
  const common = {
    requestId: request.requestId,
    ownerEpoch: BigInt(request.ownerEpoch),
    deadline: request.deadline === 0 ? undefined : timestampFromMs(request.deadline),
  };
  switch (request.kind) {
    case "confirmation":
      return { case: "confirmationRequest", value: { ...questionToMessage(request.question), ...common } };
    case "workspace": {
      const operation = operationToWire(request.operation);
      return { case: "workspaceRequest", value: { ...common, clientId: request.clientId, operation } };
    }
    default:
      return requestToEvent(request, common);
  }
}
