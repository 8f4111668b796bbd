import { randomUUID } from "node:crypto";
import type { SessionEvent } from "@gennai/agent/session-event";
import { runTurn } from "@gennai/agent/turn-loop";
import { askEditorModel } from "../bridge/ask-editor-model.ts";
import type { EditorContext } from "../context/editor-context.ts";
import { TurnContext } from "../context/turn-context.ts";
import { chooseScenario } from "../policies/choose-scenario.ts";
import { proposeStaged } from "../proposal/propose-staged.ts";
import type { PreparedTurn } from "../session/prepared-turn.ts";
import type { Session } from "../session/session.ts";
import { sessionSink } from "./session-sink.ts";
import { storeImages } from "./store-images.ts";
import { buildTurnGate } from "./turn-gate.ts";
import { projectNotes, turnInstructions } from "./turn-prompt.ts";
import { turnResources } from "./turn-resources.ts";

export interface TurnInput {
  readonly text: string;
  /** Empty: the editing mode's own. */
  readonly scenario: string;
  readonly enableThinking: boolean;
  readonly images: readonly Uint8Array[];
  readonly clientTurnId: string;
  /** What the user looks at and chose to send along. */
  readonly editorContext?: EditorContext;
}

/** Builds everything one turn needs: scenario, model, tools behind the gate. Throws `ServiceError` or `ModelError`. */
export async function prepareTurn(
  session: Session,
  input: TurnInput & { readonly turnId: string },
  signal: AbortSignal,
): Promise<PreparedTurn> {
  const { services, settings, state } = session;
  const { turnId } = input;
  services.emergency.assertTurnsMayStart();
  await session.workspace.syncControl({ workedOn: state.knownFiles.paths, signal });
  const { scenario, warnings } = await chooseScenario(session, input.scenario);
  const model = await services.createModel(settings, { askEditor: askEditorModel(session.requests, turnId) });
  const images = await storeImages(services.blobs, input.images);
  const text = await services.redactor.redact(input.text);
  const notes = await projectNotes(session);
  const resources = await turnResources(session, model);
  const sink = sessionSink(session, turnId);
  const enableThinking = input.enableThinking && model.capabilities.thinking;
  const callIds = new Set<string>();
  const gate = await buildTurnGate(session, scenario, {
    turnId,
    modelId: model.id,
    signal,
    subAgents: {
      model,
      enableThinking,
      callIds,
      notes,
      budget: resources.budget,
      contextTokens: resources.contextTokens,
    },
  });

  const context = new TurnContext({
    turnId,
    gate,
    sink,
    signal,
    prompt: input.text,
    editorContext: input.editorContext,
    editingMode: settings.editingMode,
    workspace: session.workspace,
    redactor: services.redactor,
    now: services.now,
  });

  return {
    openingEvents: [
      { type: "status", state: "started", iteration: 0 },
      {
        type: "user-message",
        text,
        scenario: scenario.name,
        clientTurnId: input.clientTurnId,
        enableThinking: input.enableThinking,
        images,
      },
      ...[...warnings, ...notes.warnings, ...resources.warnings, ...gate.warnings].map(
        (warning): SessionEvent => ({ type: "warning", text: warning }),
      ),
    ],
    gate,
    run: async () => {
      using _listening = session.queuedMessages.open(turnId);
      const end = await runTurn({
        turnId,
        model,
        tools: gate.tools,
        conversation: state.conversation,
        instructions: () => turnInstructions(session, scenario, notes),
        cacheKey: session.id,
        enableThinking,
        callIds,
        ...(settings.effort === "" ? {} : { effort: settings.effort }),
        maxOutputTokens: settings.maxTokens,
        maxIterations: settings.maxIterations,
        budget: resources.budget,
        contextTokens: resources.contextTokens,
        sessionUsage: () => state.usage,
        beforeModelCall: async () => {
          await context.beforeModelCall();
          await session.queuedMessages.deliver(turnId, sink, (text) => context.mentionedIn(text));
        },
        saidMeanwhile: () => session.queuedMessages.hasMore(turnId),
        sink,
        newItemId: randomUUID,
        signal,
      });
      if (end.type === "completed") context.finish();
      if (gate.proposal !== undefined && !signal.aborted) {
        await proposeStaged(gate.proposal, { own: gate.own, turnId, signal, emit: (event) => sink.emit(event) });
      }
      await sink.flush();
      return end;
    },
  };
}
