import { estimateText } from "@gennai/agent/conversation/token-estimate";
import type { Compacted } from "@gennai/agent/events/session-event";
import { compact } from "@gennai/agent/loop/compact";
import { ModelError } from "@gennai/agent/model";
import { ServiceError } from "@gennai/machine/service-error";
import { askEditorModel } from "../bridge/session-bridge.ts";
import { chooseScenario } from "../policies/load-scenarios.ts";
import { turnPrompt } from "../prompt/turn-prompt.ts";
import { SessionHooks } from "../rules/session-hooks.ts";
import type { PreparedTurn } from "../session/prepared-turn.ts";
import type { Session } from "../session/session.ts";
import { sessionSink } from "./redacting-sink.ts";
import { TurnHooks } from "./turn-hooks.ts";
import { turnResources } from "./turn-resources.ts";

/**
 * Compacts a session's conversation on the user's request: in a turn of its own, so that it can be stopped like any other.
 * Undefined if there was nothing to shorten. Throws `ServiceError` or `ModelError`.
 */
export async function compactConversation(session: Session): Promise<Compacted | undefined> {
  const report: CompactionReport = {};
  const { ended } = await session.turns.start((turnId, signal) => prepareCompaction(session, turnId, signal, report));
  await ended;
  if (report.failure !== undefined) throw report.failure;
  return report.compacted;
}

/** The result of a compaction, set when its turn has ended. */
interface CompactionReport {
  compacted?: Compacted;
  failure?: ServiceError;
}

/** A turn that asks the model only for a summary. */
async function prepareCompaction(
  session: Session,
  turnId: string,
  signal: AbortSignal,
  report: CompactionReport,
): Promise<PreparedTurn> {
  const { services, settings, state } = session;
  services.emergency.assertTurnsMayStart();
  const model = await services.createModel(settings, { askEditor: askEditorModel(session.requests, turnId) });
  const { budget, contextTokens } = await turnResources(session, model);
  const { scenario } = await chooseScenario(session, "");
  return {
    openingEvents: [{ type: "status", state: "started", iteration: 0 }],
    run: async () => {
      const sink = sessionSink(session, turnId);
      try {
        const hooks = new TurnHooks(session, await SessionHooks.of(session), signal);
        if (!(await hooks.mayCompact("manual", (event) => sink.emit(event)))) {
          report.failure = new ServiceError(
            "failed_precondition",
            "A hook of the user refused the compaction; the session's events say why.",
          );
          return { type: "completed" };
        }
        const compacted = await compact({
          conversation: state.conversation,
          model,
          sink,
          signal,
          budget,
          reason: "user",
          contextTokens: contextTokens || model.maxContextTokens,
          maxOutputTokens: 0,
          overhead: estimateText(await turnPrompt(session, scenario)),
        });
        if (compacted !== undefined) report.compacted = compacted;
        return { type: "completed" };
      } catch (error) {
        report.failure = signal.aborted
          ? new ServiceError("failed_precondition", "The compaction was stopped; the conversation is as it was.")
          : new ServiceError("unavailable", "The conversation could not be compacted; the session's events say why.");
        if (signal.aborted) return { type: "cancelled" };
        if (!(error instanceof ModelError)) throw error;
        const { code, message, retryable } = error;
        return { type: "failed", code: `model_${code}`, message, retryable };
      } finally {
        await sink.settle();
      }
    },
  };
}
