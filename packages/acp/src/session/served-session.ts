import {
  type AvailableCommand,
  type ContentBlock,
  methods,
  RequestError,
  type SessionConfigOption,
  type StopReason,
} from "@agentclientprotocol/sdk";
import { ConnectError } from "@connectrpc/connect";
import type { CommandPlace, SlashCommand } from "@gennai/client/commands/command";
import { slashCommands, typedCommand } from "@gennai/client/commands/slash-commands";
import { callFailure } from "@gennai/client/connection/call-failure";
import { listModels, type ProviderChoice } from "@gennai/client/host/model-choices";
import { AgentSession } from "@gennai/client/session/agent-session";
import { getWorkspaceState, prepareBranch } from "@gennai/client/session/workspace-state";
import { errorMessage } from "@gennai/protocol/error-message";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import type { ReportedSettings, SettingsChoice } from "@gennai/protocol/model/session/session-settings";
import { acpEditor } from "../editor/acp-editor.ts";
import type { WaitingMcpServer } from "../editor/editor-mcp-servers.ts";
import { acceptsServer, mcpPermission } from "../editor/mcp-permission.ts";
import { unlessWithdrawn } from "../editor/withdrawn-request.ts";
import { type PromptContent, promptContent } from "./prompt-content.ts";
import { ServedTurn, type TurnPrompt } from "./served-turn.ts";
import { type Mode, modeFor, modeOf } from "./session-modes.ts";
import { chosenSetting, sessionOptions } from "./session-options.ts";
import { type SessionContext, ToldSession } from "./told-session.ts";

/** Milliseconds to wait for the models that there are. */
const modelsMs = 5_000;

/** A session of the server, as an editor drives it. */
export class ServedSession {
  readonly #session: AgentSession;
  readonly #place: SessionContext;
  readonly #view: ToldSession;
  #settings: ReportedSettings;
  #mode: Mode;
  #providers: Promise<readonly ProviderChoice[]> | undefined;
  #waiting: readonly WaitingMcpServer[];
  #running: ServedTurn | undefined;

  private constructor(session: AgentSession, place: SessionContext) {
    this.#session = session;
    this.#place = place;
    this.#view = new ToldSession(session, place);
    this.#settings = session.settings;
    this.#mode = modeFor(session.settings.editingMode);
    this.#waiting = place.waiting;
  }

  static async start(settings: SettingsChoice, place: SessionContext): Promise<ServedSession> {
    const { server, workingDir, signal } = place;
    const choice = { ...settings, workingDir };
    const known = { sessionId: "" };
    const identity = identityOf(place, () => known.sessionId);
    const session = await AgentSession.start(server, identity, choice, { interactive: true, signal });
    known.sessionId = session.sessionId;
    return new ServedSession(session, place);
  }

  static async resume(sessionId: string, place: SessionContext): Promise<ServedSession> {
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

  get workingDir(): string {
    return this.#place.workingDir;
  }

  get sessionId(): string {
    return this.#session.sessionId;
  }

  get mode(): Mode {
    return this.#mode;
  }

  /** Tells all that happened so far, as it was told when it happened. */
  replay(): Promise<void> {
    return this.#view.replay();
  }

  async setMode(mode: Mode): Promise<void> {
    await this.#change({ editingMode: mode.editingMode });
    this.#mode = mode;
    await this.#view.tell([{ sessionUpdate: "config_option_update", configOptions: await this.configOptions() }]);
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
    else await this.#useMode(mode);
    return this.configOptions();
  }

  /** Tells which commands can be typed. */
  async tellCommands(): Promise<void> {
    const commands = slashCommands(await this.#commandPlace(this.#place.signal));
    await this.#view.tell([
      { sessionUpdate: "available_commands_update", availableCommands: availableCommands(commands) },
    ]);
  }

  /** Runs a turn to its end. Throws `RequestError` while another one runs. */
  async prompt(blocks: readonly ContentBlock[]): Promise<StopReason> {
    if (this.#running !== undefined) {
      throw RequestError.invalidRequest(undefined, "A turn is running. Wait for its end, or cancel it.");
    }
    const turn = new ServedTurn(this.#view);
    this.#running = turn;
    try {
      return await this.#answer(contentOf(blocks), turn);
    } finally {
      this.#running = undefined;
    }
  }

  /** Ends the running turn; `prompt` gives its end when the server says that it has stopped. */
  async cancel(): Promise<void> {
    await this.#running?.cancel();
  }

  /** What a command does, or a turn. */
  async #answer(content: PromptContent, turn: ServedTurn): Promise<StopReason> {
    const { signal } = turn;
    let prompt: TurnPrompt | undefined;
    try {
      prompt = await this.#commanded(content, signal);
      if (prompt === undefined) return "end_turn";
      await this.#askAboutServers(signal);
      const isNew = prompt.continues === undefined;
      const writes = this.#settings.editingMode === "branch";
      if (isNew && writes && (await this.#needsBranchNow(signal)) && !(await this.#prepareBranch(prompt.text, signal)))
        return "refusal";
      signal.throwIfAborted();
    } catch (error) {
      if (turn.stopped) return "cancelled";
      throw error;
    }
    return turn.run({ ...prompt, branchTask: prompt.text || "continued" }, this.#mode);
  }

  /** The prompt for the model; undefined when it was a command that is done. */
  async #commanded(content: PromptContent, signal: AbortSignal): Promise<TurnPrompt | undefined> {
    const typed = typedCommand(content.text);
    const { scenario = "", name } = this.#mode;
    if (typed === undefined) return { ...content, scenario };
    const place = await this.#commandPlace(signal);
    const command = slashCommands(place).find((each) => each.name === typed.name);
    if (command === undefined) return { ...content, scenario };
    const result = await command.run(place, typed.text);
    if (scenario !== "" && (result.type === "continue" || (result.type === "prompt" && result.scenario !== ""))) {
      await this.#view.say(`The mode ${name} cannot change its scenario. Choose another mode first.`);
      return undefined;
    }
    if (result.type === "continue") return { text: "", images: [], scenario: "", continues: result.turnId };
    if (result.type === "prompt") return { ...content, ...result, scenario: result.scenario || this.#scenario };
    // No other view is offered here.
    if (result.type === "show") {
      if (planMode !== undefined) await this.#useMode(planMode);
      if (result.text !== "") return { ...content, text: result.text, scenario: this.#scenario };
      await this.#view.say("Plan mode from now on. Write what to plan.");
    }
    if (result.type === "said" && result.text !== "") await this.#view.say(spelledOut(result.text));
    return undefined;
  }

  get #scenario(): string {
    return this.#mode.scenario ?? "";
  }

  /** Chosen by a command or an option; the editor is told. */
  async #useMode(mode: Mode): Promise<void> {
    await this.#change({ editingMode: mode.editingMode });
    this.#mode = mode;
    await this.#view.tell([{ sessionUpdate: "current_mode_update", currentModeId: mode.id }]);
  }

  /** Once a session: a server that was left out is not asked about with every prompt. */
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
      await this.#view.tell([{ sessionUpdate: "tool_call_update", toolCallId, status: "completed" }]);
    }
  }

  /** A plan is bound to its branch, and without git none can begin; other work begins one with its first write. */
  async #needsBranchNow(signal: AbortSignal): Promise<boolean> {
    if (this.#mode.id === "plan") return true;
    const { git } = await getWorkspaceState(this.#place.server, { sessionId: this.sessionId, signal });
    return git !== "ready";
  }

  /** False if there is no branch to work on; the user is told why. */
  async #prepareBranch(task: string, signal: AbortSignal): Promise<boolean> {
    const { server } = this.#place;
    try {
      const { branch, how } = await prepareBranch(server, { sessionId: this.sessionId, task, signal });
      if (how !== "kept") await this.#view.say(`Branch ${spelledOut(branch)} (${how}).\n\n`);
      return true;
    } catch (error) {
      if (signal.aborted || callFailure(error) !== "final") throw error;
      await this.#view.say(
        `${spelledOut(error instanceof ConnectError ? error.rawMessage : String(error))} Nothing was started: correct it, or choose the mode Proposal.`,
      );
      return false;
    }
  }

  async #change(choice: SettingsChoice): Promise<void> {
    this.#settings = await this.#session.changeSettings(choice, { signal: this.#place.signal });
  }

  /** Looked for once a session; those that do not answer soon are left out. */
  #offeredModels(): Promise<readonly ProviderChoice[]> {
    const { server, signal } = this.#place;
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(modelsMs)]);
    this.#providers ??= listModels(server, undefined, { signal: inTime }).catch(() => []);
    return this.#providers;
  }

  async #commandPlace(signal: AbortSignal): Promise<CommandPlace> {
    const { governance, userName } = this.#place;
    const session = this.#session;
    const { sessionId, workingDir, client } = session;
    const { scenarios, skills } = await client.listScenarios({ sessionId }, { signal });
    return {
      session: { sessionId, workingDir, client, settings: this.#settings },
      governance,
      userName,
      views: new Set(["plan"]),
      mode: this.#mode.name,
      scenarios,
      skills,
      signal,
      cutOffTurn: () => this.#view.cutOffTurn(),
      undo: async () => {
        const { files } = await session.undo({ signal });
        return `Undone: ${files.map(({ path }) => path).join(", ") || "nothing"}.`;
      },
      changeSettings: async (choice) => {
        if (choice.editingMode === undefined) await this.#change(choice);
        else await this.#useMode(modeFor(choice.editingMode));
        return true;
      },
    };
  }
}

const planMode = modeOf("plan");

function identityOf(place: SessionContext, sessionId: () => string) {
  const { editor: client, capabilities, workingDir, name, version } = place;
  const editor = acpEditor({ client, capabilities, sessionId, workingDir });
  return { clientId: crypto.randomUUID(), name, version, editor };
}

function contentOf(blocks: readonly ContentBlock[]): PromptContent {
  try {
    return promptContent(blocks);
  } catch (error) {
    throw RequestError.invalidParams(undefined, errorMessage(error));
  }
}

/** Commands as an editor lists them. */
function availableCommands(commands: readonly SlashCommand[]): AvailableCommand[] {
  return commands.map(({ name, argument, description }) => ({
    name,
    description: spelledOut(description),
    input: argument === "" ? null : { hint: argument },
  }));
}
