import { randomUUID } from "node:crypto";
import type { OpenCall } from "@gennai/agent/conversation/conversation";
import type { SessionEvent } from "@gennai/agent/events/session-event";
import { warningEvent } from "@gennai/agent/events/warning";
import { runTurn } from "@gennai/agent/loop/turn-loop";
import type { ToolCall } from "@gennai/governance/gate-journal";
import { limitsDigest } from "@gennai/governance/limits/limits";
import { redactionMarker } from "@gennai/governance/redaction";
import { ServiceError } from "@gennai/machine/service-error";
import { usersCallPrefix } from "@gennai/protocol/built-in-tools";
import type { BlobRef } from "@gennai/protocol/model/session/proposal";
import { askEditorModel } from "../bridge/session-bridge.ts";
import type { EditorContext } from "../context/editor-context.ts";
import { TurnContext } from "../context/turn-context.ts";
import { chooseScenario } from "../policies/load-scenarios.ts";
import { projectNotes, turnInstructions } from "../prompt/turn-prompt.ts";
import { proposeStaged } from "../proposal/propose-staged-tool.ts";
import type { PreparedTurn } from "../session/prepared-turn.ts";
import type { Session } from "../session/session.ts";
import type { StartedTurn } from "../session/session-turns.ts";
import { sessionSink } from "./redacting-sink.ts";
import { storeImages } from "./store-images.ts";
import { buildTurnGate } from "./turn-gate.ts";
import { turnResources } from "./turn-resources.ts";
import { warmingSink } from "./warming-sink.ts";

export interface TurnInput {
  readonly text: string;
  /** Empty: the editing mode's default. */
  readonly scenario: string;
  readonly enableThinking: boolean;
  readonly images: readonly Uint8Array[];
  readonly clientTurnId: string;
  /** Id of the turn to continue, instead of a prompt. */
  readonly continues?: string;
  /** The text is a command that the user runs. */
  readonly isCommand?: boolean;
  /** What a branch is for that the first write begins without a question; absent: it is for the prompt, and a person is asked. */
  readonly branchTask?: string;
  /** The editor state that the user chose to send. */
  readonly editorContext?: EditorContext;
}

/** Builds everything one turn needs: scenario, model, tools behind the gate. Throws `ServiceError` or `ModelError`. */
export async function prepareTurn(
  session: Session,
  asked: TurnInput & { readonly turnId: string },
  signal: AbortSignal,
): Promise<PreparedTurn> {
  const { services, settings, state } = session;
  const { turnId, continues } = asked;
  const input = continues === undefined ? asked : { ...asked, ...cutOffTurn(session, continues).prompt };
  services.emergency.assertTurnsMayStart();
  await recordPolicy(session);
  await session.workspace.syncControl({ workedOn: state.knownFiles.paths, signal });
  const { scenario, warnings } = await chooseScenario(session, input.scenario);
  const model = await services.createModel(settings, { askEditor: askEditorModel(session.requests, turnId) });
  const images = await storeImages(services.blobs, input.images);
  const text = await services.redactor.redact(input.text);
  const call = input.isCommand === true ? await commandCall(session, input.text) : undefined;
  const notes = await projectNotes(session);
  const resources = await turnResources(session, model);
  const sink = sessionSink(session, turnId);
  const request = {
    enableThinking: input.enableThinking && model.capabilities.thinking,
    ...(settings.effort === "" ? {} : { effort: settings.effort }),
    maxOutputTokens: settings.maxTokens,
    cacheKey: session.id,
  };
  const callIds = new Set<string>();
  const gate = await buildTurnGate(session, scenario, {
    turnId,
    modelId: call === undefined ? model.id : "",
    ...(call === undefined ? {} : { askedBy: "user" }),
    signal,
    branch: {
      task: (continues === undefined ? input.branchTask : undefined) ?? text,
      asks: input.branchTask === undefined,
    },
    subAgents: {
      model,
      request,
      callIds,
      notes,
      budget: resources.budget,
      contextTokens: resources.contextTokens,
    },
  });

  const unseen = images.length > 0 && !model.capabilities.vision ? ["The model cannot see images."] : [];
  using unlessPrepared = new DisposableStack();
  unlessPrepared.use(gate);
  const hooked = await gate.hooks.begin(continues === undefined && call === undefined ? input.text : undefined);
  unlessPrepared.move();
  const emit = (event: SessionEvent): void => sink.emit(event);
  const context = new TurnContext({
    turnId,
    gate,
    sink,
    signal,
    // A command mentions no files for a model.
    prompt: call === undefined ? input.text : "",
    editorContext: input.editorContext,
    editingMode: settings.editingMode,
    images: { areSeen: model.capabilities.vision, store: services.blobs },
    workspace: session.workspace,
    redactor: services.redactor,
    now: services.now,
  });

  return {
    openingEvents: [
      { type: "status", state: "started", iteration: 0 },
      openingEvent(input, { text, scenario: scenario.name, images }),
      ...hooked,
      ...(call === undefined ? [] : [{ type: "tool-call", ...call } as const]),
      ...[...warnings, ...notes.warnings, ...resources.warnings, ...gate.warnings, ...unseen].map(warningEvent),
    ],
    gate,
    run: async () => {
      using _listening = session.queuedMessages.open(turnId);
      using warming = warmingSink(sink, () => gate.warmUp());
      const openCalls =
        continues === undefined
          ? [call].filter((each) => each !== undefined)
          : callsToRun(state.conversation.openCalls, (call) => gate.tools.isRepeatable(call));
      // Changes by calls are checked from here on.
      if (openCalls.length > 0) await context.beforeModelCall();
      const end = await runTurn({
        turnId,
        model,
        tools: gate.tools,
        conversation: state.conversation,
        instructions: () => turnInstructions(session, scenario, notes),
        request,
        callIds,
        openCalls,
        callsOnly: call !== undefined,
        maxIterations: settings.maxIterations,
        budget: resources.budget,
        contextTokens: resources.contextTokens,
        sessionUsage: () => state.usage,
        beforeModelCall: async () => {
          await context.beforeModelCall();
          await session.queuedMessages.deliver(turnId, sink, async (said) => {
            for (const event of session.hookContext.splice(0)) emit(event);
            await context.mentionedIn(said);
          });
          for (const event of await gate.hooks.started()) emit(event);
        },
        saidMeanwhile: () => session.queuedMessages.hasMore(turnId),
        mayEnd: gate.hooks.ending(emit),
        mayCompact: () => gate.hooks.mayCompact("auto", emit),
        sink: warming,
        newItemId: randomUUID,
        signal,
      });
      if (end.type === "completed") context.finish();
      const proposal = signal.aborted ? undefined : await gate.toPropose();
      if (proposal !== undefined) {
        await proposeStaged(proposal, { own: gate.own, turnId, signal, emit: (event) => sink.emit(event) });
      }
      const underWay = services.stages?.open.of(session.id)?.operation;
      if (underWay !== undefined) sink.emit(warningEvent(stillUnderWay(underWay)));
      await sink.flush();
      return end;
    },
  };
}

/** The user's command as a call, which takes the way of every call. It is logged as every argument is: masked. */
async function commandCall(session: Session, command: string): Promise<ToolCall> {
  const argumentsJson = JSON.stringify({ command });
  if ((await session.services.redactor.redact(argumentsJson)) !== argumentsJson) {
    throw new ServiceError("invalid_argument", "The command holds a secret, which would be kept in the log.", {
      hint: "Put it into a variable or a file, and name that.",
    });
  }
  return { id: `${usersCallPrefix}${randomUUID()}`, name: "Bash", argumentsJson };
}

function stillUnderWay(operation: string): string {
  return (
    `In this session ${operation} is under way. Your files and your repository are unchanged. ` +
    "The agent can continue or end it. To take it over as it is: gennai stage keep .git."
  );
}

/** Throws `ServiceError` if the turn cannot be continued, or no longer. */
function cutOffTurn({ state }: Session, turnId: string) {
  const turn = state.continuableTurn;
  if (turn?.turnId === turnId) return turn;
  throw new ServiceError(
    "failed_precondition",
    "That turn cannot be continued: it is not the last one, or it was not interrupted.",
    {
      hint: "Say what to do in a new prompt.",
    },
  );
}

function openingEvent(
  { continues, clientTurnId, enableThinking, isCommand }: TurnInput,
  { text, scenario, images }: { readonly text: string; readonly scenario: string; readonly images: readonly BlobRef[] },
): SessionEvent {
  const begun = { scenario, clientTurnId, enableThinking };
  if (isCommand === true) return { type: "user-message", text: `!${text}`, images, ...begun, isCommand };
  return continues === undefined
    ? { type: "user-message", text, images, ...begun }
    : { type: "turn-continued", continuedTurnId: continues, ...begun };
}

/** Records the policies in force at the session's first turn here, and when they changed: work is known by what limited it. */
async function recordPolicy(session: Session): Promise<void> {
  const { current, files } = await session.services.loadLimits();
  const limits = current();
  const sha256 = limitsDigest(limits);
  if (sha256 === session.policyRecorded || (limits.length === 0 && session.policyRecorded === "")) return;
  const serials = limits.flatMap(({ serial }) => serial ?? []);
  const policy = { name: limits.map(({ name }) => name).join(", "), serial: serials, sha256, files };
  await session.decided([], "session", { policy });
  session.policyRecorded = sha256;
}

/**
 * The calls that an interrupted turn still has to run: its open calls in order, if they had not begun or may be repeated. Stops
 * at the first that may not run: later ones relied on its result, so the model decides. A call with a masked secret must be
 * made again by the model.
 */
export function callsToRun(
  openCalls: readonly OpenCall[],
  isRepeatable: (call: ToolCall) => boolean,
): readonly ToolCall[] {
  const mayRun = (call: OpenCall) =>
    (!call.begun || isRepeatable(call)) && !call.argumentsJson.includes(redactionMarker);
  const barred = openCalls.findIndex((call) => !mayRun(call));
  const calls = barred === -1 ? openCalls : openCalls.slice(0, barred);
  return calls.map(({ id, name, argumentsJson }) => ({ id, name, argumentsJson }));
}

/** Starts the turn of a prompt, once for each `clientTurnId`. Resolves when its start is durable. */
export function startTurn(
  session: Session,
  input: TurnInput,
): Promise<StartedTurn & { readonly alreadyStarted: boolean }> {
  return session.turns.startOnce(input.clientTurnId, (turnId, signal) =>
    prepareTurn(session, { ...input, turnId }, signal),
  );
}
