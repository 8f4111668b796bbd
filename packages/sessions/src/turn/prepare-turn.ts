import { randomUUID } from "node:crypto";
import type { SessionEvent } from "@gennai/agent/session-event";
import { runTurn } from "@gennai/agent/turn-loop";
import { ServiceError } from "@gennai/machine/service-error";
import type { BlobRef } from "@gennai/protocol/model/proposal";
import { askEditorModel } from "../bridge/ask-editor-model.ts";
import type { EditorContext } from "../context/editor-context.ts";
import { TurnContext } from "../context/turn-context.ts";
import { chooseScenario } from "../policies/choose-scenario.ts";
import type { PreparedTurn } from "../session/prepared-turn.ts";
import type { Session } from "../session/session.ts";
import { imageMediaType } from "./image-media-type.ts";
import { sessionSink } from "./session-sink.ts";
import { buildTurnGate } from "./turn-gate.ts";
import { projectNotes, turnPrompt } from "./turn-prompt.ts";
import { turnResources } from "./turn-resources.ts";

const maxImages = 20;

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
  const images = await storeImages(session, input.images);
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
      const end = await runTurn({
        turnId,
        model,
        tools: gate.tools,
        conversation: state.conversation,
        system: () => turnPrompt(session, scenario, notes),
        enableThinking,
        callIds,
        maxOutputTokens: settings.maxTokens,
        maxIterations: settings.maxIterations,
        budget: resources.budget,
        contextTokens: resources.contextTokens,
        sessionUsage: () => state.usage,
        beforeModelCall: () => context.beforeModelCall(),
        sink,
        newItemId: randomUUID,
        signal,
      });
      if (end.type === "completed") context.finish();
      await sink.flush();
      return end;
    },
  };
}

async function storeImages(session: Session, images: readonly Uint8Array[]): Promise<readonly BlobRef[]> {
  if (images.length > maxImages)
    throw new ServiceError("invalid_argument", `At most ${maxImages} images go with a message.`);
  return Promise.all(
    images.map((bytes) => {
      const mediaType = imageMediaType(bytes);
      if (mediaType === undefined) {
        throw new ServiceError("invalid_argument", "An image must be PNG, JPEG, GIF or WebP.");
      }
      return session.services.blobs.put(bytes, mediaType);
    }),
  );
}
