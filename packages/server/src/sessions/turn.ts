import { randomUUID } from "node:crypto";
import { systemPrompt } from "@gennai/agent/prompt/system-prompt";
import type { Scenario } from "@gennai/agent/scenarios/scenario";
import type { BlobRef, SessionEvent } from "@gennai/agent/session-event";
import { runTurn, type TurnEnd } from "@gennai/agent/turn-loop";
import { intentContext } from "@gennai/governance/intents/intent-context";
import type { LedgerEntry } from "@gennai/governance/ledger/ledger-entry";
import { askEditorModel } from "../bridge/ask-editor-model.ts";
import { type ProjectNotes, readProjectNotes } from "../notes/project-notes.ts";
import { ServiceError } from "../service-error.ts";
import { imageMediaType } from "./image-media-type.ts";
import { createRedactingSink } from "./redacting-sink.ts";
import type { Session } from "./session.ts";
import { buildTurnGate } from "./turn-gate.ts";

const maxImages = 20;

export interface TurnInput {
  readonly text: string;
  /** Empty: the editing mode's own. */
  readonly scenario: string;
  readonly enableThinking: boolean;
  readonly images: readonly Uint8Array[];
  readonly clientTurnId: string;
}

/** A turn that is ready: dispose it when it has ended, or was never run. */
export interface PreparedTurn extends Disposable {
  /** First events of the turn; durable before it runs. */
  readonly openingEvents: readonly SessionEvent[];
  /** What goes in with them, in the same transaction. */
  readonly openingRecords?: { readonly ledger: readonly LedgerEntry[]; readonly spentTokens: readonly string[] };
  run(): Promise<TurnEnd>;
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
  const { scenario, warnings } = await chooseScenario(session, input.scenario);
  const model = await services.createModel(settings, { askEditor: askEditorModel(session.requests, turnId) });
  const images = await storeImages(session, input.images);
  const text = await services.redactor.redact(input.text);
  const notes = await readProjectNotes(session.workspace.root, services.redactor);
  const gate = await buildTurnGate(session, scenario, { turnId, modelId: model.id, signal });

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
      ...[...warnings, ...notes.warnings, ...gate.warnings].map(
        (warning): SessionEvent => ({ type: "warning", text: warning }),
      ),
    ],
    run: () =>
      runTurn({
        turnId,
        model,
        tools: gate.tools,
        conversation: state.conversation,
        system: () => promptFor(session, scenario, notes),
        enableThinking: input.enableThinking && model.capabilities.thinking,
        maxOutputTokens: settings.maxTokens,
        maxIterations: settings.maxIterations,
        sink: createRedactingSink(
          {
            emit: (event, itemId) => {
              session.writer.emit(event, { turnId, ...(itemId === undefined ? {} : { itemId }) });
            },
            settle: () => Promise.resolve(),
            flush: async () => {
              await session.writer.flush();
              await session.fillConversation();
            },
          },
          services.redactor,
        ),
        newItemId: randomUUID,
        signal,
      }),
    [Symbol.dispose]: () => {
      gate[Symbol.dispose]();
    },
  };
}

/** The system prompt of a turn with this scenario, as the model would get it now. */
export async function promptFor(session: Session, scenario: Scenario, notes?: ProjectNotes): Promise<string> {
  const { services, workspace, state } = session;
  const projectNotes = notes ?? (await readProjectNotes(workspace.root, services.redactor));
  const { intents } = await services.governanceOf(workspace);
  const rules = await intents.rules(state.activeIntentId);
  return systemPrompt({
    scenario,
    workingDir: workspace.root,
    editingMode: session.settings.editingMode,
    verbosity: session.settings.verbosity,
    platform: services.platform,
    date: new Date(services.now()).toISOString().slice(0, 10),
    todos: state.todos,
    projectNotes: projectNotes.text,
    intents: {
      required: rules.on,
      selectable: rules.selectable,
      context: rules.active === undefined ? "" : intentContext(rules.active),
    },
  });
}

export async function chooseScenario(
  session: Session,
  asked: string,
): Promise<{ readonly scenario: Scenario; readonly warnings: readonly string[] }> {
  const name = asked === "" ? (session.settings.editingMode === "proposal" ? "EDITOR_CODE" : "CODE") : asked;
  const { scenarios, warnings } = await session.services.loadScenarios(session.workspace.root);
  const scenario = scenarios.get(name);
  if (scenario !== undefined) return { scenario, warnings };
  throw new ServiceError("not_found", `There is no scenario ${JSON.stringify(name.slice(0, 100))}.`, {
    hint: [`Scenarios: ${[...scenarios.keys()].join(", ")}.`, ...warnings].join(" "),
  });
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
