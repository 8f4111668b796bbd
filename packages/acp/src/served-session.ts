import {
  type ClientCapabilities,
  type ContentBlock,
  methods,
  RequestError,
  type SessionConfigOption,
  type SessionUpdate,
  type StopReason,
} from "@agentclientprotocol/sdk";
import { ConnectError } from "@connectrpc/connect";
import { callFailure } from "@gennai/client/connection/call-failure";
import type { AgentClient, GovernanceClient, PlanClient } from "@gennai/client/connection/connection";
import { SessionPlans } from "@gennai/client/plan/session-plans";
import { AgentSession, type CutOffTurn } from "@gennai/client/session/agent-session";
import { listModels, type ProviderChoice } from "@gennai/client/session/model-choices";
import { turnOutcome } from "@gennai/client/session/turn-state";
import { prepareBranch } from "@gennai/client/session/workspace-state";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import { type Proposal, proposalFromMessage } from "@gennai/protocol/model/proposal";
import type { ReportedSettings, SettingsChoice } from "@gennai/protocol/model/session-settings";
import { acpEditor, type EditorPeer } from "./acp-editor.ts";
import type { EditorMcpServers, WaitingMcpServer } from "./editor-mcp-servers.ts";
import { acceptsServer, mcpPermission } from "./mcp-permission.ts";
import { type PromptContent, promptContent } from "./prompt-content.ts";
import { decideProposal } from "./proposal-permission.ts";
import { decidePlan } from "./served-plan.ts";
import { type Mode, modeFor, modeOf } from "./session-modes.ts";
import { chosenSetting, sessionOptions } from "./session-options.ts";
import { availableCommands, type CommandPlace, slashCommands, typedCommand } from "./slash-commands.ts";
import { TurnUpdates } from "./turn-updates.ts";
import { unlessWithdrawn } from "./withdrawn-request.ts";

/** Where a session is, and who drives it. */
export interface SessionPlace {
  readonly server: AgentClient;
  readonly governance: GovernanceClient;
  readonly plans: PlanClient;
  /** Absolute, real. */
  readonly workingDir: string;
  readonly mcp: EditorMcpServers;
  /** MCP servers of the editor that a person has not accepted yet. */
  readonly waiting: readonly WaitingMcpServer[];
  readonly userName: string;
  readonly editor: EditorPeer;
  readonly capabilities: ClientCapabilities;
  /** As the editor calls itself. */
  readonly name: string;
  readonly version: string;
  readonly signal: AbortSignal;
}

interface RunningTurn {
  turnId: string;
  /** Aborts what is no turn of the server's: a question before it or after it. */
  readonly stop: AbortController;
}

interface TurnPrompt extends PromptContent {
  /** Empty: the default of the mode. */
  readonly scenario: string;
  /** Of the turn that is gone on with, in place of a text. */
  readonly continues?: string;
}

/** Bytes of a file whose text is shown in a diff. */
const maxShownText = 1024 * 1024;
/** Milliseconds to wait for the models that there are. */
const modelsMs = 5_000;
const wayOn = "\n\n`/again` goes on with the turn that was cut off; anything else begins a new one.";
const cancelReason = "Stopped by the user in the editor.";

/** A session of the server, as an editor drives it. */
export class ServedSession {
  readonly #session: AgentSession;
  readonly #place: SessionPlace;
  #settings: ReportedSettings;
  #mode: Mode;
  #providers: Promise<readonly ProviderChoice[]> | undefined;
  #waiting: readonly WaitingMcpServer[];
  #running: RunningTurn | undefined;

  private constructor(session: AgentSession, place: SessionPlace) {
    this.#session = session;
    this.#place = place;
    this.#settings = session.settings;
    this.#mode = modeFor(session.settings.editingMode);
    this.#waiting = place.waiting;
  }

  static async start(settings: SettingsChoice, place: SessionPlace): Promise<ServedSession> {
    const { server, workingDir, signal } = place;
    const choice = { ...settings, workingDir };
    const known = { sessionId: "" };
    const identity = identityOf(place, () => known.sessionId);
    const session = await AgentSession.start(server, identity, choice, { interactive: true, signal });
    known.sessionId = session.sessionId;
    return new ServedSession(session, place);
  }

  static async resume(sessionId: string, place: SessionPlace): Promise<ServedSession> {
    const identity = identityOf(place, () => sessionId);
    const session = await AgentSession.resume(place.server, identity, sessionId, { signal: place.signal });
    if (session.workingDir !== place.workingDir) {
      throw RequestError.invalidParams(
        undefined,
        `Session ${sessionId} belongs to ${session.workingDir}. Open it there.`,
      );
    }
    return new ServedSession(session, place);
  }

  get sessionId(): string {
    return this.#session.sessionId;
  }

  get mode(): Mode {
    return this.#mode;
  }

  /** Tells all that happened so far, as it was told when it happened. */
  async replay(): Promise<void> {
    const { signal } = this.#place;
    const { lastSeq } = this.#session;
    if (lastSeq === 0n) return;
    const watching = await this.#watching();
    const updates = this.#updates({ withPrompts: true });
    for await (const event of watching.follow({ afterSeq: 0n, signal })) {
      await this.#tell(await updates.of(event));
      if (event.seq >= lastSeq) break;
    }
    if (watching.cutOffTurn !== undefined) await this.#say(wayOn);
  }

  async setMode(mode: Mode): Promise<void> {
    await this.#change({ editingMode: mode.editingMode });
    this.#mode = mode;
    await this.#tell([{ sessionUpdate: "config_option_update", configOptions: await this.configOptions() }]);
  }

  /** What can be set, with what is in force. */
  async configOptions(): Promise<SessionConfigOption[]> {
    return [...sessionOptions(this.#settings, await this.#offeredModels(), this.#mode)];
  }

  /** Gives all of them anew. Throws `RequestError` for a value that is not offered. */
  async setConfigOption(configId: string, value: unknown): Promise<SessionConfigOption[]> {
    const mode = configId === "mode" ? modeOf(value) : undefined;
    const choice = mode ?? chosenSetting(configId, value, this.#settings, await this.#offeredModels());
    if (choice === undefined) throw RequestError.invalidParams(undefined, `There is no ${configId} ${String(value)}.`);
    if (mode === undefined) await this.#change(choice);
    else {
      await this.#change({ editingMode: mode.editingMode });
      this.#mode = mode;
      await this.#tell([{ sessionUpdate: "current_mode_update", currentModeId: mode.id }]);
    }
    return this.configOptions();
  }

  /** Tells which commands can be typed. */
  async tellCommands(): Promise<void> {
    const commands = await slashCommands(this.#commandPlace(this.#place.signal));
    await this.#tell([{ sessionUpdate: "available_commands_update", availableCommands: availableCommands(commands) }]);
  }

  /** Runs a turn to its end. Throws `RequestError` while another one runs. */
  async prompt(blocks: readonly ContentBlock[]): Promise<StopReason> {
    if (this.#running !== undefined) {
      throw RequestError.invalidRequest(undefined, "A turn is running. Wait for its end, or cancel it.");
    }
    const running: RunningTurn = { turnId: "", stop: new AbortController() };
    this.#running = running;
    try {
      return await this.#answer(contentOf(blocks), running);
    } finally {
      this.#running = undefined;
    }
  }

  /** Ends the running turn; `prompt` gives its end when the server says that it has stopped. */
  async cancel(): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    running.stop.abort();
    if (running.turnId !== "") await this.#session.cancelTurn(running.turnId, cancelReason, this.#place);
  }

  /** What a command does, or a turn. */
  async #answer(content: PromptContent, running: RunningTurn): Promise<StopReason> {
    const signal = AbortSignal.any([this.#place.signal, running.stop.signal]);
    let prompt: TurnPrompt | undefined;
    try {
      prompt = await this.#commanded(content, signal);
      if (prompt === undefined) return "end_turn";
      await this.#askAboutServers(signal);
      const isNew = prompt.continues === undefined;
      const writes = this.#settings.editingMode === "branch";
      if (isNew && writes && !(await this.#prepareBranch(prompt.text, signal))) return "refusal";
      signal.throwIfAborted();
    } catch (error) {
      if (running.stop.signal.aborted) return "cancelled";
      throw error;
    }
    return this.#mode.id === "plan" ? this.#plan(prompt, running, signal) : this.#turn(prompt, running, signal);
  }

  /** The prompt for the model; undefined when it was a command that is done. */
  async #commanded(content: PromptContent, signal: AbortSignal): Promise<TurnPrompt | undefined> {
    const typed = typedCommand(content.text);
    const { scenario = "", name } = this.#mode;
    if (typed === undefined) return { ...content, scenario };
    const place = this.#commandPlace(signal);
    const command = (await slashCommands(place)).get(typed.name);
    if (command === undefined) return { ...content, scenario };
    const result = await command.run(place, typed.text);
    if (scenario !== "" && (result.type === "continue" || (result.type === "prompt" && result.scenario !== ""))) {
      await this.#say(`The mode ${name} has a way of its own. Choose another mode first.`);
      return undefined;
    }
    if (result.type === "continue") return { text: "", images: [], scenario: "", continues: result.turnId };
    if (result.type === "prompt") return { ...content, ...result, scenario: result.scenario || scenario };
    await this.#say(result.text);
    return undefined;
  }

  /** Once a session: whoever leaves one out is not asked with every prompt. */
  async #askAboutServers(signal: AbortSignal): Promise<void> {
    const { editor, mcp, workingDir } = this.#place;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const server of waiting) {
      const question = mcpPermission(server, this.sessionId);
      const { outcome } = await unlessWithdrawn(
        editor.request(methods.client.session.requestPermission, question, {
          cancellationSignal: signal,
        }),
        signal,
      );
      if (acceptsServer(outcome)) await mcp.accept(workingDir, server);
      const { toolCallId } = question.toolCall;
      await this.#tell([{ sessionUpdate: "tool_call_update", toolCallId, status: "completed" }]);
    }
  }

  /** The envelope that the model writes is for the server; the person sees the plan. */
  async #plan(prompt: TurnPrompt, running: RunningTurn, signal: AbortSignal): Promise<StopReason> {
    let written = "";
    const end = await this.#turn(prompt, running, signal, ({ event }) => {
      if (event.case === "final") written = event.value.text;
      return event.case !== "assistantDelta" && event.case !== "final";
    });
    if (end !== "end_turn") return end;
    const plans = new SessionPlans(this.#place.plans, this.sessionId);
    const { editor } = this.#place;
    try {
      await decidePlan(written, {
        plans,
        editor,
        signal,
        tell: (updates) => this.#tell(updates),
        say: (text) => this.#say(text),
        attended: (work) => this.#attended(work, running),
      });
    } catch (error) {
      if (!running.stop.signal.aborted) throw error;
    }
    return running.stop.signal.aborted ? "cancelled" : "end_turn";
  }

  /** Tells what happens in the session while something is done there, and answers what is asked. */
  async #attended<Value>(work: () => Promise<Value>, { stop }: RunningTurn): Promise<Value> {
    const { signal } = this.#place;
    const session = this.#session;
    const stopIt = (): void => void session.stop("session", cancelReason, { signal }).catch(() => undefined);
    stop.signal.addEventListener("abort", stopIt, { once: true });
    const leaving = new AbortController();
    const attached = Promise.withResolvers<void>();
    const updates = this.#updates({ withPrompts: false });
    const watching = (async () => {
      const events = session.follow({
        afterSeq: session.lastSeq,
        signal: AbortSignal.any([signal, leaving.signal]),
        onConnection: ({ state }) => {
          if (state === "connected") attached.resolve();
        },
      });
      for await (const event of events) await this.#tell(await updates.of(event));
    })()
      .catch(() => undefined)
      .finally(() => attached.resolve());
    try {
      // Whoever shall be asked must be there before the first question.
      await attached.promise;
      stop.signal.throwIfAborted();
      return await work();
    } finally {
      stop.signal.removeEventListener("abort", stopIt);
      leaving.abort();
      await watching;
    }
  }

  /** @param shows false for an event that the person does not see */
  async #turn(
    prompt: TurnPrompt,
    running: RunningTurn,
    signal: AbortSignal,
    shows: (event: InvokeEvent) => boolean = () => true,
  ): Promise<StopReason> {
    const updates = this.#updates({ withPrompts: false });
    const proposals: Proposal[] = [];
    let outcome: ReturnType<typeof turnOutcome>;
    const events = this.#session.runTurn(
      { ...prompt, enableThinking: true },
      {
        signal: this.#place.signal,
        maxAttempts: 20,
        onStart: ({ turnId }) => {
          running.turnId = turnId;
          if (running.stop.signal.aborted)
            this.#session.cancelTurn(turnId, cancelReason, this.#place).catch(() => undefined);
        },
      },
    );
    for await (const event of events) {
      outcome = turnOutcome(event) ?? outcome;
      if (event.event.case === "proposedChanges") proposals.push(proposalFromMessage(event.event.value));
      if (shows(event)) await this.#tell(await updates.of(event));
    }
    if (outcome === "cancelled" || signal.aborted) return "cancelled";
    if (outcome === "interrupted" && (await this.#cutOffTurn()) !== undefined) await this.#say(wayOn);
    try {
      // Nothing is kept in a mode that only reads, whatever a project's scenario proposed.
      for (const proposal of this.#mode.id === "read-only" ? [] : proposals) {
        const place = { session: this.#session, editor: this.#place.editor, signal: this.#place.signal };
        await this.#say(`\n\n${await decideProposal(proposal, place, signal)}`);
      }
    } catch (error) {
      // The proposal stays open.
      if (!running.stop.signal.aborted) throw error;
    }
    if (running.stop.signal.aborted) return "cancelled";
    return outcome === "completed" ? "end_turn" : "refusal";
  }

  /** False when there is none to work on; the person is told why. */
  async #prepareBranch(task: string, signal: AbortSignal): Promise<boolean> {
    const { server } = this.#place;
    try {
      const { branch, how } = await prepareBranch(server, { sessionId: this.sessionId, task, signal });
      if (how !== "kept") await this.#say(`Branch ${spelledOut(branch)} (${how}).\n\n`);
      return true;
    } catch (error) {
      if (signal.aborted || callFailure(error) !== "final") throw error;
      await this.#say(
        `${spelledOut(error instanceof ConnectError ? error.rawMessage : String(error))} Nothing was started: mend it, or choose the mode Proposal.`,
      );
      return false;
    }
  }

  async #change(choice: SettingsChoice): Promise<void> {
    this.#settings = await this.#session.changeSettings(choice, { signal: this.#place.signal });
  }

  /** Looked for once a session; those that do not answer soon are none. */
  #offeredModels(): Promise<readonly ProviderChoice[]> {
    const { server, signal } = this.#place;
    const patience = AbortSignal.any([signal, AbortSignal.timeout(modelsMs)]);
    this.#providers ??= listModels(server, undefined, { signal: patience }).catch(() => []);
    return this.#providers;
  }

  #commandPlace(signal: AbortSignal): CommandPlace {
    const { governance, userName } = this.#place;
    return { session: this.#session, cutOffTurn: () => this.#cutOffTurn(), governance, userName, signal };
  }

  async #cutOffTurn(): Promise<CutOffTurn | undefined> {
    return (await this.#watching()).cutOffTurn;
  }

  /** The session as it is now, without an editor: what was asked is not answered there. */
  #watching(): Promise<AgentSession> {
    const { server, signal, name, version } = this.#place;
    return AgentSession.resume(server, { clientId: crypto.randomUUID(), name, version }, this.sessionId, { signal });
  }

  #updates({ withPrompts }: { readonly withPrompts: boolean }): TurnUpdates {
    const session = this.#session;
    const { signal } = this.#place;
    return new TurnUpdates({
      workingDir: session.workingDir,
      withPrompts,
      textOf: async (sha256) => {
        const bytes = await session.blob(sha256, { signal }).catch(() => undefined);
        return bytes === undefined || bytes.length > maxShownText ? undefined : utf8(bytes);
      },
    });
  }

  #say(text: string): Promise<void> {
    return this.#tell([{ sessionUpdate: "agent_message_chunk", content: { type: "text", text } }]);
  }

  async #tell(updates: readonly SessionUpdate[]): Promise<void> {
    const { editor } = this.#place;
    const { sessionId } = this;
    for (const update of updates) await editor.notify(methods.client.session.update, { sessionId, update });
  }
}

function identityOf(place: SessionPlace, sessionId: () => string) {
  const { editor: client, capabilities, workingDir, name, version } = place;
  const editor = acpEditor({ client, capabilities, sessionId, workingDir });
  return { clientId: crypto.randomUUID(), name, version, editor };
}

function contentOf(blocks: readonly ContentBlock[]): PromptContent {
  try {
    return promptContent(blocks);
  } catch (error) {
    throw RequestError.invalidParams(undefined, error instanceof Error ? error.message : String(error));
  }
}

function utf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
