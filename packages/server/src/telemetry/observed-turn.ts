import type { TurnEnd } from "@gennai/agent/loop/turn-loop";
import type { ServerObserver } from "@gennai/sessions/session/server-observer";
import type { Attributes } from "@opentelemetry/api";
import type { ModelWatch } from "./observed-model.ts";
import { errorCode } from "./signals/error-code.ts";
import { errorType, genAi, modelNameOf } from "./signals/gen-ai.ts";
import { pseudonym } from "./signals/names.ts";
import type { AgentUse } from "./signals/scopes.ts";
import { endSpan } from "./signals/tracing.ts";

/** An `invoke_agent` span for each turn, and one below it for each sub-agent. */
export function observedTurns(watch: ModelWatch): Pick<ServerObserver, "turn" | "subAgent"> {
  const { instruments, names } = watch;
  return {
    async turn({ sessionId, turnId, settings }, run) {
      const facts = {
        [genAi.agentName]: "gennai",
        [genAi.requestModel]: await names.of(modelNameOf(settings)),
      };
      let end: TurnEnd | undefined;
      try {
        end = await agent(watch, facts, { [genAi.conversation]: pseudonym(sessionId), "gennai.turn.id": turnId }, run);
        return end;
      } finally {
        instruments.turns.add(1, {
          "gennai.turn.end": end?.type ?? "failed",
          ...(end?.type === "failed" ? { [errorType]: end.code } : {}),
        });
      }
    },
    async subAgent(scenario, settings, run) {
      const facts = {
        [genAi.agentName]: await names.of(scenario),
        [genAi.requestModel]: await names.of(modelNameOf(settings)),
      };
      return agent(watch, facts, {}, run);
    },
  };
}

/** @param more what only the span says: it would make too many labels */
async function agent(
  { tracing, scopes, instruments }: ModelWatch,
  named: Attributes & { readonly [genAi.agentName]: string },
  more: Attributes,
  run: () => Promise<TurnEnd>,
): Promise<TurnEnd> {
  const facts: Attributes = { [genAi.operation]: "invoke_agent", ...named };
  const span = tracing.start({
    name: `invoke_agent ${named[genAi.agentName]}`,
    attributes: { ...facts, ...more },
  });
  const began = performance.now();
  const use: AgentUse = { inputTokens: 0, outputTokens: 0 };
  let error: string | undefined;
  try {
    const end = await tracing.below(span, run, { agents: [...(scopes.current.agents ?? []), use] });
    error = end.type === "failed" ? end.code : end.type === "cancelled" ? "cancelled" : undefined;
    return end;
  } catch (thrown) {
    error = errorCode(thrown);
    throw thrown;
  } finally {
    endSpan(span, { [genAi.inputTokens]: use.inputTokens, [genAi.outputTokens]: use.outputTokens }, error);
    instruments.agentDuration.record((performance.now() - began) / 1000, {
      ...facts,
      ...(error === undefined ? {} : { [errorType]: error }),
    });
  }
}
