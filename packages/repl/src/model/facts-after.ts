import { emergencyStateFromMessage } from "@gennai/client/governance/emergency";
import type { InvokeEvent, TokenUsage } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { rulesWords } from "./rules-words.ts";
import type { SessionFacts, Usage } from "./session-facts.ts";
import { todoFromMessage } from "./view-from-wire.ts";

/** The facts after an event; the same object when it changes none. The running turn is the view's to tell. */
export function factsAfter(facts: SessionFacts, { event: body, parentToolCallId }: InvokeEvent): SessionFacts {
  switch (body.case) {
    case "sessionStarted": {
      const { workingDir, forkedFrom } = body.value;
      return { ...facts, workingDir, forkedFrom };
    }
    case "sessionRenamed":
      return { ...facts, title: body.value.title };
    case "sessionCleared":
      return { ...facts, todos: [] };
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
    case "emergencyChanged":
      return { ...facts, emergency: emergencyStateFromMessage(body.value.state) };
    case "usage":
      return { ...facts, usage: usageAfter(facts.usage, body.value, parentToolCallId) };
    default:
      return facts;
  }
}

function usageAfter(usage: Usage, message: TokenUsage, parentCallId: string): Usage {
  const { inputTokens, outputTokens, maxContextTokens, modelId, cost, currency, estimated } = message;
  // A sub-agent and a summary have a context of their own.
  const own = parentCallId === "" && !message.forCompaction;
  return {
    ...usage,
    inputTokens: usage.inputTokens + inputTokens,
    outputTokens: usage.outputTokens + outputTokens,
    ...(own ? { contextTokens: inputTokens + outputTokens, maxContextTokens, modelId } : {}),
    ...(cost === undefined ? {} : { cost: (usage.cost ?? 0) + cost, currency }),
    estimated: usage.estimated || estimated,
  };
}
