import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { LoggedEvent, SessionEvent, TurnState } from "@gennai/agent/events/session-event";
import type { Warning } from "@gennai/agent/events/warning";
import { violationWords } from "@gennai/governance/rules/violation";
import {
  ContextState,
  type InvokeEvent,
  InvokeEventSchema,
  InvokeState,
  RequestResolution,
} from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { emergencyControlWords, emergencyToMessage } from "@gennai/protocol/model/governance/emergency";
import { answerWords, scopeWords } from "@gennai/protocol/model/governance/question";
import { riskWords } from "@gennai/protocol/model/governance/risk";
import { failureClassToMessage, verdictWords, verificationWords } from "@gennai/protocol/model/governance/tool-outcome";
import {
  appliedFileToMessage,
  type BlobRef,
  blobToMessage,
  changeToMessage,
} from "@gennai/protocol/model/session/proposal";
import { todoToMessage } from "@gennai/protocol/model/session/todo";
import { backgroundRecordToWire } from "./background-run-wire.ts";
import { checkpointEventToWire } from "./checkpoint-wire.ts";
import { intentToWire, rulesStatusToWire } from "./governance-wire.ts";
import { planChangeToWire } from "./plan-wire.ts";
import { requestToWire } from "./request-wire.ts";
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
    parentToolCallId: event.parentToolCallId ?? "",
    event: bodyToWire(event),
    ...(event.type === "error" ? { errorInfo: errorInfo(event) } : {}),
    ...(event.type === "warning" && event.code !== undefined ? { errorInfo: warningInfo(event) } : {}),
  });
}

function errorInfo(event: Extract<SessionEvent, { readonly type: "error" }>) {
  const { code, message, hint = "", retryable } = event;
  return { code, message, hint, retryable, canContinue: event.canContinue === true };
}

function warningInfo({ code = "", text, hint = "" }: Warning) {
  return { code, message: text, hint };
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

function wireBlob(blob: BlobRef | undefined) {
  return blob === undefined ? {} : { outputBlob: blobToMessage(blob) };
}

function bodyToWire(event: SessionEvent): WireEvent {
  switch (event.type) {
    case "status":
      return {
        case: "status",
        value: {
          state: states[event.state],
          iteration: event.iteration,
          toolName: event.toolName ?? "",
          toolCallId: event.toolCallId ?? "",
          ...(event.until === undefined ? {} : { until: timestampFromMs(event.until) }),
        },
      };
    case "thinking-delta":
      return { case: "thinkingDelta", value: { text: event.text } };
    case "text-delta":
      return { case: "assistantDelta", value: { text: event.text } };
    case "tool-call-start":
      return { case: "toolCallStart", value: { id: event.id, name: event.name } };
    case "tool-call-delta":
      return { case: "toolCallDelta", value: { id: event.id, argumentsDelta: event.text } };
    case "tool-call":
      return { case: "toolCall", value: { id: event.id, name: event.name, argumentsJson: event.argumentsJson } };
    case "tool-output-delta":
      return { case: "toolOutputDelta", value: { id: event.id, text: event.text } };
    case "tool-result":
      return {
        case: "toolResult",
        value: {
          id: event.id,
          output: event.output,
          error: event.error ?? "",
          truncated: event.truncated,
          verification: verificationWords.toMessage(event.verification),
          failureClass: failureClassToMessage(event.failureClass),
          // People get all of it, also where the model got less.
          ...wireBlob(event.wholeOutput ?? event.outputBlob),
          ...(event.exitCode === undefined ? {} : { exitCode: event.exitCode }),
          images: (event.images ?? []).map(blobToMessage),
        },
      };
    case "gate-decision":
      return {
        case: "gateDecision",
        value: {
          toolCallId: event.toolCallId,
          toolName: event.toolName,
          verdict: verdictWords.toMessage(event.verdict),
          risk: riskWords.toMessage(event.risk),
          rule: event.rule,
          reason: event.reason,
        },
      };
    case "usage":
      return { case: "usage", value: usageToWire(event) };
    case "final":
      return {
        case: "final",
        value: {
          text: event.text,
          thinking: event.thinking,
          usage: usageToWire(event),
          ...(event.sessionUsage === undefined ? {} : { sessionUsage: usageSumToWire(event.sessionUsage) }),
        },
      };
    case "answer-dropped":
      return { case: "warning", value: `${event.reason} What it had said is dropped, and it is asked again.` };
    case "model-note":
    case "call-note":
      return { case: "warning", value: event.text };
    case "compacted":
      return { case: "conversationCompacted", value: compactedToWire(event) };
    case "instructions":
      return {
        case: "instructionsTold",
        value: { whole: event.whole, parts: partsTold(event) },
      };
    case "session-renamed":
      return { case: "sessionRenamed", value: { title: event.title } };
    case "warning":
      return { case: "warning", value: event.text };
    case "error":
      return { case: "error", value: event.message };
    case "user-message":
      return {
        case: "userMessage",
        value: {
          text: event.text,
          scenario: event.scenario,
          clientTurnId: event.clientTurnId,
          images: event.images.map(blobToMessage),
          messageId: event.messageId ?? "",
        },
      };
    case "turn-continued": {
      const { continuedTurnId, scenario, clientTurnId } = event;
      return { case: "turnContinued", value: { continuedTurnId, scenario, clientTurnId } };
    }
    case "message-queued":
      return {
        case: "messageQueued",
        value: { messageId: event.messageId, text: event.text, images: event.images.map(blobToMessage) },
      };
    case "message-withdrawn":
      return { case: "messageWithdrawn", value: { messageId: event.messageId } };
    case "client-request":
      return requestToWire(event.request);
    case "client-request-waits":
      return { case: "clientRequestWaits", value: { requestId: event.requestId } };
    case "client-request-resolved":
      return {
        case: "clientRequestResolved",
        value: {
          requestId: event.requestId,
          resolution: resolutions[event.resolution],
          clientId: event.clientId,
          user: event.user ?? "",
          answer: event.reply === undefined ? undefined : answerWords.toMessage(event.reply.answer),
          scope: event.reply?.answer === "yes" ? scopeWords.toMessage(event.reply.scope) : undefined,
        },
      };
    case "todos-changed":
      return { case: "todosChanged", value: { items: event.items.map(todoToMessage) } };
    case "proposed-changes":
      return {
        case: "proposedChanges",
        value: {
          proposalId: event.proposal.proposalId,
          toolCallId: event.proposal.toolCallId,
          changes: event.proposal.changes.map(changeToMessage),
          hasConflicts: event.proposal.hasConflicts,
          warnings: [...event.proposal.warnings],
        },
      };
    case "proposal-review":
      return { case: "proposalReview", value: reviewToWire(event.review) };
    case "change-set-applied":
      return {
        case: "changeSetApplied",
        value: {
          changeSetId: event.changeSetId,
          files: event.files.map(appliedFileToMessage),
          proposalId: event.proposalId ?? "",
          toolCallId: event.toolCallId ?? "",
          branch: event.branch ?? "",
        },
      };
    case "change-set-undone":
      return {
        case: "changeSetUndone",
        value: { changeSetId: event.changeSetId, files: event.files.map(appliedFileToMessage) },
      };
    case "checkpoint-taken":
    case "checkpoint-closed":
    case "checkpoint-restoring":
    case "checkpoint-restored":
      return checkpointEventToWire(event);
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
      return {
        case: "sessionStarted",
        value: { workingDir: event.workingDir, forkedFrom: event.forkedFrom ?? "" },
      };
    case "emergency-changed": {
      const { state, control, enabled, tool, by, reason } = event;
      return {
        case: "emergencyChanged",
        value: {
          state: emergencyToMessage(state),
          control: emergencyControlWords.toMessage(control),
          enabled,
          tool,
          by,
          reason,
        },
      };
    }
    case "rule-violation": {
      const { toolCallId, tool, input, rule, reason, place, action } = event;
      const words = violationWords(event);
      return {
        case: "ruleViolation",
        value: { toolCallId, tool, input, rule, action, words, reason: reason ?? "", place: place ?? "" },
      };
    }
    case "intent-selected":
      return { case: "intentSelected", value: { intent: intentToWire(event.intent) } };
    case "rules-changed":
      return { case: "rulesChanged", value: { status: rulesStatusToWire(event.status) } };
    case "plan-changed":
      return { case: "planChanged", value: planChangeToWire(event.planId, event.change) };
    case "session-cleared":
      return { case: "sessionCleared", value: {} };
    case "context-added":
      return {
        case: "contextAdded",
        value: { items: event.items.map(({ name, state, reason }) => ({ name, state: contextStates[state], reason })) },
      };
    case "settings-changed": {
      const { backend, model, editingMode } = event.settings;
      return {
        case: "settingsChanged",
        value: { summary: `${backend}${model === "" ? "" : `/${model}`}, ${editingMode} mode` },
      };
    }
  }
}
