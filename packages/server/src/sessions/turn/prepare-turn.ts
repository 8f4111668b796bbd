import { randomUUID } from "node:crypto";
import { systemPrompt } from "@gennai/agent/prompt/system-prompt";
import type { Scenario } from "@gennai/agent/scenarios/scenario";
import type { BlobRef, SessionEvent } from "@gennai/agent/session-event";
import { runTurn, type TurnEnd } from "@gennai/agent/turn-loop";
import type { TurnSink } from "@gennai/agent/turn-sink";
import { intentContext } from "@gennai/governance/intents/intent-context";
import type { LedgerEntry } from "@gennai/governance/ledger/ledger-entry";
import { askEditorModel } from "../../bridge/ask-editor-model.ts";
import type { EditorContext } from "../../context/editor-context.ts";
import { createMayRead } from "../../context/may-read.ts";
import { TurnContext } from "../../context/turn-context.ts";
import { type ProjectNotes, readProjectNotes } from "../../notes/project-notes.ts";
import { ServiceError } from "../../service-error.ts";
import { loadSkills, type Skill } from "../../skills/load-skills.ts";
import type { Session } from "../session.ts";
import { imageMediaType } from "./image-media-type.ts";
import { createRedactingSink } from "./redacting-sink.ts";
import { buildTurnGate } from "./turn-gate.ts";
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
  await session.workspace.syncControl({ workedOn: state.knownFiles.paths, signal });
  const { scenario, warnings } = await chooseScenario(session, input.scenario);
  const model = await services.createModel(settings, { askEditor: askEditorModel(session.requests, turnId) });
  const images = await storeImages(session, input.images);
  const text = await services.redactor.redact(input.text);
  const notes = await projectNotes(session);
  const resources = await turnResources(session, model);
  const sink = turnSink(session, turnId);
  const enableThinking = input.enableThinking && model.capabilities.thinking;
  const callIds = new Set<string>();
  const gate = await buildTurnGate(session, scenario, {
    ...{ turnId, modelId: model.id, signal },
    subAgents: {
      ...{ model, enableThinking, callIds, budget: resources.budget, contextTokens: resources.contextTokens },
      prompt: (ofSubAgent) => promptFor(session, ofSubAgent, notes),
      findScenario: async (name) => (await chooseScenario(session, name)).scenario,
    },
  });

  const context = new TurnContext({
    ...{ turnId, gate, sink, signal, prompt: input.text, editorContext: input.editorContext },
    ...{ editingMode: settings.editingMode, workspace: session.workspace, redactor: services.redactor },
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
    run: async () => {
      const end = await runTurn({
        turnId,
        model,
        tools: gate.tools,
        conversation: state.conversation,
        system: () => promptFor(session, scenario, notes),
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
    [Symbol.dispose]: () => {
      gate[Symbol.dispose]();
    },
  };
}

/** Where a turn of the session's own conversation is written, masked. */
export function turnSink(session: Session, turnId: string): TurnSink {
  return createRedactingSink(
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
    session.services.redactor,
  );
}

/** The system prompt of a turn with this scenario, as the model would get it now. */
export async function promptFor(session: Session, scenario: Scenario, notes?: ProjectNotes): Promise<string> {
  const { services, workspace, state } = session;
  // Without the project's rules the model is asked nothing.
  await workspace.syncControl({ workedOn: state.knownFiles.paths, maxAgeMs: 250 });
  // Files that were worked on since may have notes of their own.
  const worked = [...state.knownFiles.paths].some((path) => path.includes("/"));
  const now = notes === undefined || worked ? await projectNotes(session) : notes;
  const { intents } = await services.governanceOf(workspace);
  const rules = await intents.rules(state.activeIntentId);
  return systemPrompt({
    scenario,
    workingDir: workspace.root,
    editingMode: session.settings.editingMode,
    verbosity: session.settings.verbosity,
    platform: workspace.client?.platform ?? services.platform,
    date: new Date(services.now()).toISOString().slice(0, 10),
    todos: state.todos,
    projectNotes: now.text,
    skills: [...(await projectSkills(session)).values()],
    intents: {
      required: rules.on,
      selectable: rules.selectable,
      context: rules.active === undefined ? "" : intentContext(rules.active),
    },
  });
}

async function projectNotes(session: Session): Promise<ProjectNotes> {
  const { services, workspace, state } = session;
  return readProjectNotes(workspace.controlRoot, services.redactor, {
    userDirectory: services.configDir,
    workedOn: state.knownFiles.paths,
    mayRead: await createMayRead(session),
  });
}

async function projectSkills(session: Session): Promise<ReadonlyMap<string, Skill>> {
  const { workspace, services } = session;
  const mayRead = await createMayRead(session);
  return (await loadSkills({ root: workspace.controlRoot, userDirectory: services.configDir, mayRead })).skills;
}

export async function chooseScenario(
  session: Session,
  asked: string,
): Promise<{ readonly scenario: Scenario; readonly warnings: readonly string[] }> {
  const name = asked === "" ? (session.settings.editingMode === "proposal" ? "EDITOR_CODE" : "CODE") : asked;
  const { scenarios, warnings } = await session.services.loadScenarios(session.workspace.controlRoot);
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
