import { type InvokeEvent, InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { emergencyFromMessage } from "@gennai/protocol/model/governance/emergency";
import { blobFromMessage, proposalFromMessage } from "@gennai/protocol/model/session/proposal";
import { todoFromMessage } from "@gennai/protocol/model/session/todo";
import { turnOutcome } from "../session/turn-state.ts";
import { meterAfter } from "../session/usage-meter.ts";
import { rulesWords } from "./rules-words.ts";
import type { SessionFacts } from "./session-facts.ts";

/** The facts after an event; the same object if the event changes none. The view itself tracks the running turn. */
export function factsAfter(facts: SessionFacts, event: InvokeEvent): SessionFacts {
  const { event: body, parentToolCallId, turnId } = event;
  switch (body.case) {
    case "status":
      if (turnOutcome(event) !== undefined && facts.turn?.turnId === turnId && facts.questions.size > 0)
        return { ...facts, questions: new Map() };
      if (body.value.state !== InvokeState.STARTED || facts.cutOffTurn === undefined) return facts;
      return { ...facts, cutOffTurn: undefined };
    case "error": {
      if (event.errorInfo?.canContinue !== true) return facts;
      const waited = event.errorInfo.code === "interrupted_waiting";
      return { ...facts, cutOffTurn: { turnId, message: body.value, waited } };
    }
    case "sessionStarted": {
      const { workingDir, forkedFrom } = body.value;
      return { ...facts, workingDir, forkedFrom };
    }
    case "final":
      return { ...facts, answer: { turnId, text: body.value.text } };
    case "sessionRenamed":
      return { ...facts, title: body.value.title };
    case "sessionCleared":
      return { ...facts, todos: [], cutOffTurn: undefined };
    case "todosChanged":
      return { ...facts, todos: body.value.items.map(todoFromMessage) };
    case "intentSelected": {
      const { intent } = body.value;
      if (intent === undefined) return facts;
      const { id, name, status, selectable } = intent;
      return { ...facts, intent: { id, name, status, selectable } };
    }
    case "rulesChanged": {
      const { count = 0, text = "", lastViolation = "", problems = [] } = body.value.status ?? {};
      return { ...facts, rules: { count, text: rulesWords(text), lastViolation, problems } };
    }
    case "ruleViolation": {
      const { tool, words, rule, reason, place, action } = body.value;
      return { ...facts, violation: { tool, words, rule, reason, place, action } };
    }
    case "confirmationRequest":
      if (event.resolved) return facts;
      return withQuestion(facts, body.value.requestId, body.value.maskedStatement || body.value.title);
    case "userQuestionRequest": {
      if (event.resolved) return facts;
      const { requestId, questions } = body.value;
      return withQuestion(facts, requestId, questions[0]?.question ?? "The model asks you something.");
    }
    case "clientRequestResolved":
      return { ...facts, questions: without(facts.questions, body.value.requestId) };
    case "proposedChanges": {
      const proposal = proposalFromMessage(body.value);
      return { ...facts, openProposals: new Map(facts.openProposals).set(proposal.proposalId, proposal) };
    }
    case "proposalReview":
    case "changeSetApplied":
      return { ...facts, openProposals: without(facts.openProposals, body.value.proposalId) };
    case "emergencyChanged":
      return { ...facts, emergency: emergencyFromMessage(body.value.state) };
    case "messageQueued": {
      const { messageId, text, images } = body.value;
      const message = { messageId, turnId, text, images: images.map(blobFromMessage) };
      return { ...facts, queuedMessages: [...facts.queuedMessages, message] };
    }
    case "messageWithdrawn":
    case "userMessage":
      return withoutMessage(facts, body.value.messageId);
    case "usage":
      return { ...facts, usage: meterAfter(facts.usage, body.value, parentToolCallId) };
    default:
      return facts;
  }
}

function withoutMessage(facts: SessionFacts, messageId: string): SessionFacts {
  if (messageId === "") return facts;
  return { ...facts, queuedMessages: facts.queuedMessages.filter((message) => message.messageId !== messageId) };
}

function withQuestion(facts: SessionFacts, requestId: string, words: string): SessionFacts {
  return { ...facts, questions: new Map(facts.questions).set(requestId, words) };
}

/** The same map if it lacks the key. */
function without<Value>(map: ReadonlyMap<string, Value>, key: string): ReadonlyMap<string, Value> {
  return map.has(key) ? new Map([...map].filter(([each]) => each !== key)) : map;
}
