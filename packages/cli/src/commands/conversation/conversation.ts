import { userInfo } from "node:os";
import { Code, ConnectError } from "@connectrpc/connect";
import { planScenarioName } from "@gennai/agent/scenarios/parse-scenarios";
import type { CommandPlace, CommandResult, SlashCommand } from "@gennai/client/commands/command";
import { slashCommands, typedCommand, usersCommand } from "@gennai/client/commands/slash-commands";
import type { ClientIdentity } from "@gennai/client/connection/client-identity";
import { AgentSession } from "@gennai/client/session/agent-session";
import type { TurnRequest } from "@gennai/client/session/turn";
import { endsTurn, turnOutcome } from "@gennai/client/session/turn-state";
import { getWorkspaceState, type WorkspaceState } from "@gennai/client/session/workspace-state";
import { SessionPlans } from "@gennai/client/session-plans";
import { SessionView } from "@gennai/client/view/session-view";
import { type TurnReport, turnReport } from "@gennai/client/view/turn-report";
import { errorMessage } from "@gennai/protocol/error-message";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { EditingMode, SettingsChoice } from "@gennai/protocol/model/session/session-settings";
import type { ChosenServer } from "../../connection/server-choice.ts";
import { asCliError, CliError } from "../../terminal/cli-error.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { describeNoPlan } from "../plan/plan-text.ts";
import { writePlan } from "../plan/write-plan.ts";
import { approveAndRun } from "../run/plan-mode.ts";
import { describeUndone } from "../sessions/undo-text.ts";
import type { Face } from "./face.ts";

export interface ConversationOptions {
  readonly server: Pick<ChosenServer, "client" | "governance" | "plans">;
  /** Of this terminal; its editor answers what the server asks. */
  readonly identity: ClientIdentity;
  readonly face: Face;
  /** Of new sessions. */
  readonly settings: SettingsChoice;
  /** Empty: the mode's own. */
  readonly scenario: string;
  /** It begins in plan mode. */
  readonly isPlanning: boolean;
  readonly thinking: boolean;
  /** Sees to the branch for a request, as far as no server can do it when something is written. */
  readonly prepare: (request: string, mode: EditingMode | "plan", session: AgentSession) => Promise<void>;
  /** After each turn that was begun here. */
  readonly afterTurn: (report: TurnReport, session: AgentSession) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Tries after which a server that went away is not waited for any longer. */
const mostTries = 6;

/** A person's conversation with the agent: a session that is followed, whatever others do in it, and what the person does there. */
export class Conversation {
  readonly #options: ConversationOptions;
  #session: AgentSession | undefined;
  #view = new SessionView();
  #settings: AgentSession["settings"] | undefined;
  #workspace: WorkspaceState | undefined;
  #scenario: string;
  #planning: boolean;
  #leaves = false;
  #stopping = false;
  #following = new AbortController();
  #attached = Promise.withResolvers<void>();
  #isGone = false;
  /** Ids of turns that write a plan. */
  readonly #planTurns = new Set<string>();
  /** Called with each event, and without one when the session is not followed any more. */
  readonly #watchers = new Set<(event: InvokeEvent | undefined) => void>();

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#scenario = options.scenario;
    this.#planning = options.isPlanning;
  }

  /** Throws before the first `open`. */
  get session(): AgentSession {
    if (this.#session === undefined) throw new CliError("The session is not open yet.", { next: ["Wait a moment."] });
    return this.#session;
  }

  get governance(): ConversationOptions["server"]["governance"] {
    return this.#options.server.governance;
  }

  get plans(): ConversationOptions["server"]["plans"] {
    return this.#options.server.plans;
  }

  get view(): SessionView {
    return this.#view;
  }

  get settings(): AgentSession["settings"] | undefined {
    return this.#settings;
  }

  get workspace(): WorkspaceState | undefined {
    return this.#workspace;
  }

  get mode(): "plan" | EditingMode {
    return this.#planning ? "plan" : (this.#settings?.editingMode ?? "branch");
  }

  /** True once the person has asked to leave. */
  get leaves(): boolean {
    return this.#leaves;
  }

  get isRunning(): boolean {
    return this.#view.facts.peek().turn !== undefined;
  }

  get isStopping(): boolean {
    return this.#stopping;
  }

  /** Goes on with a session, a new one for undefined. Rejects as `AgentSession.start` and `resume` do; then the old one stays. */
  async open(sessionId?: string): Promise<AgentSession> {
    const { server, identity, settings, face, signal } = this.#options;
    const session =
      sessionId === undefined
        ? await AgentSession.start(server.client, identity, settings, { interactive: true, signal })
        : await AgentSession.resume(server.client, identity, sessionId, { signal });
    if (sessionId !== undefined) {
      const { workingDir, ...changes } = settings;
      if (session.workingDir !== (workingDir ?? session.workingDir)) throw elsewhere(session);
      if (Object.keys(changes).length > 0 && this.#session === undefined)
        await session.changeSettings(changes, { signal });
    }
    this.#leaveSession();
    this.#session = session;
    this.#settings = session.settings;
    this.#view = new SessionView();
    face.opened(this.#view, sessionId === undefined ? 0n : session.lastSeq);
    void this.#follow(session, this.#view);
    await this.#attached.promise;
    void this.#lookAtWorkspace();
    return session;
  }

  /** Tries again to reach a server that was given up. */
  reconnect(): void {
    if (!this.#isGone || this.#session === undefined) return;
    this.#isGone = false;
    this.#following = new AbortController();
    this.#attached = Promise.withResolvers<void>();
    void this.#follow(this.#session, this.#view);
  }

  /** Does what was typed: a command, a request, or a message to the turn that runs. Never rejects: the face says what went wrong. */
  async submit(text: string): Promise<void> {
    const typed = typedCommand(text);
    const command = usersCommand(text);
    await this.attempt(async () => {
      if (command !== undefined) return this.#runCommand(command);
      if (typed !== undefined) await this.#carryOut(await this.#commanded(typed));
      else if (this.#planning && !this.isRunning) await this.#plan(text);
      else await this.#request(text, this.#scenario);
    });
  }

  /** Does something; what goes wrong is said. */
  async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      // That it is gone was said.
      if (this.#options.signal.aborted || error instanceof Gone) return;
      const { face } = this.#options;
      const { message, next } = asCliError(error);
      const lines = next.map((step) => `  ${terminalSafe(step)}\n`);
      face.write(`${face.paint("red", `✗ ${terminalSafe(message)}`)}\n${lines.join("")}`);
    }
  }

  /** Takes back the newest message that the model has not got; undefined: there is none, or it is too late. */
  async takeBack(): Promise<string | undefined> {
    const message = this.#view.facts.peek().queuedMessages.at(-1);
    if (message === undefined) return undefined;
    const { sessionId, client } = this.session;
    const { messageId } = message;
    try {
      const { text } = await client.withdrawMessage({ sessionId, messageId }, { signal: this.#options.signal });
      return text;
    } catch {
      // The model got it meanwhile.
      return undefined;
    }
  }

  /** Ends what runs. */
  async stop(): Promise<void> {
    if (this.#stopping || this.#session === undefined) return;
    this.#stopping = true;
    try {
      await this.#session.stop("session", "Stopped by the user at the terminal.", { signal: this.#options.signal });
    } catch (error) {
      this.#options.face.note(`It could not be stopped: ${errorMessage(error)}`);
    } finally {
      this.#stopping = false;
      this.#options.face.changed();
    }
  }

  /** Branch, proposal, plan, and from the beginning. */
  async nextMode(): Promise<void> {
    const next = ({ branch: "proposal", proposal: "plan", plan: "branch" } as const)[this.mode];
    await this.attempt(async () => {
      if (next === "plan") return this.startPlanning();
      await this.changeSettings({ editingMode: next });
    });
  }

  leave(): void {
    this.#leaves = true;
    this.#options.face.changed();
  }

  /** What can be typed here. */
  async commands(): Promise<readonly SlashCommand[]> {
    return slashCommands(await this.#place());
  }

  async paths(prefix: string, options: { readonly signal: AbortSignal }): Promise<readonly string[]> {
    const { client, sessionId } = this.session;
    return (await client.listPaths({ sessionId, prefix }, options)).paths;
  }

  /** Resolves when no turn runs any more. */
  async idle(): Promise<void> {
    while (this.isRunning && !this.#isGone) {
      await this.#until((event) => turnOutcome(event) !== undefined).catch(() => undefined);
    }
  }

  close(): void {
    this.#leaveSession();
  }

  async #follow(session: AgentSession, view: SessionView): Promise<void> {
    const { face, signal } = this.#options;
    const following = this.#following;
    try {
      const events = session.follow({
        afterSeq: view.lastSeq,
        signal: AbortSignal.any([signal, following.signal]),
        maxAttempts: mostTries,
        onConnection: (change) => {
          if (change.state === "connected") this.#attached.resolve();
          face.way(change);
        },
        onProblem: ({ error }) => face.note(`An answer was not taken: ${errorMessage(error)}`),
      });
      for await (const event of events) {
        const added = view.apply(event);
        if (!this.#isEnvelope(event)) face.shown(event, added);
        this.#seen(event, view);
        for (const watch of [...this.#watchers]) watch(event);
      }
    } catch (error) {
      if (following.signal.aborted || signal.aborted) return;
      this.#isGone = true;
      this.#attached.resolve();
      face.way({ state: "gone", error });
    } finally {
      if (!following.signal.aborted) for (const watch of [...this.#watchers]) watch(undefined);
    }
  }

  /** What a planning turn answers is for the server: a person sees the plan. */
  #isEnvelope({ event, turnId }: InvokeEvent): boolean {
    if (event.case === "userMessage" && event.value.scenario === planScenarioName) this.#planTurns.add(turnId);
    return (event.case === "assistantDelta" || event.case === "final") && this.#planTurns.has(turnId);
  }

  #seen(event: InvokeEvent, view: SessionView): void {
    const { face } = this.#options;
    if (event.event.case === "branchChanged") void this.#lookAtWorkspace();
    if (turnOutcome(event) === undefined || view.facts.peek().turn !== undefined) return;
    void this.#lookAtWorkspace();
    // What an ended turn did not get is the person's again.
    const left = view.facts.peek().queuedMessages.filter(({ turnId }) => turnId === event.turnId);
    const { client, sessionId } = this.session;
    for (const { messageId } of left) {
      client.withdrawMessage({ sessionId, messageId }, { signal: this.#options.signal }).then(
        ({ text }) => face.putBack(text),
        () => undefined,
      );
    }
  }

  /** Resolves with the first event that comes and is so. Rejects with `Gone` when none comes any more. */
  #until(isWanted: (event: InvokeEvent) => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const watch = (event: InvokeEvent | undefined): void => {
        if (event !== undefined && !isWanted(event)) return;
        this.#watchers.delete(watch);
        if (event === undefined) reject(new Gone());
        else resolve();
      };
      this.#watchers.add(watch);
    });
  }

  /** Begins a turn and waits for its end. Rejects if it does not begin, or cannot be watched. */
  async #run(request: TurnRequest): Promise<TurnReport> {
    const { session, view } = this;
    await this.#attached.promise;
    const { turnId } = await session.startTurn(request, { signal: this.#options.signal });
    const isOver = view.cells.some(({ item }) => {
      const end = item.peek();
      return end.kind === "turn-end" && end.turnId === turnId;
    });
    if (!isOver) await this.#until((event) => endsTurn(event, turnId));
    return turnReport(view, turnId);
  }

  async #request(text: string, scenario: string): Promise<void> {
    if (this.isRunning) {
      const message = { messageId: crypto.randomUUID(), text, images: [] };
      const isTaken = await this.session.queueMessage(message, { signal: this.#options.signal }).then(
        () => true,
        (error: unknown) => {
          // The turn ended meanwhile: this begins the next one.
          if (ConnectError.from(error).code !== Code.FailedPrecondition) throw error;
          return false;
        },
      );
      if (isTaken) return;
    }
    const { prepare, thinking } = this.#options;
    await prepare(text, this.mode, this.session);
    await this.#turn({ text, branchTask: text, scenario, enableThinking: thinking });
  }

  async #runCommand(text: string): Promise<void> {
    if (this.isRunning)
      throw new CliError("Your command can run when this turn has ended.", { next: ["Esc stops it."] });
    await this.#turn({ text, runsCommand: true, branchTask: text });
  }

  async #turn(request: TurnRequest): Promise<void> {
    const { session } = this;
    const report = await this.#run(request);
    await this.#options.afterTurn(report, session);
  }

  async #plan(goal: string): Promise<void> {
    const { face, server, prepare, thinking, signal } = this.#options;
    const { session } = this;
    await prepare(goal, "plan", session);
    const plans = new SessionPlans(server.plans, session.sessionId);
    const ask = (text: string) => this.#run({ text, scenario: planScenarioName, enableThinking: thinking });
    const written = await writePlan(plans, goal, { ask, note: (text) => face.note(text), signal });
    if (written.plan === undefined) return face.write(describeNoPlan(written, face.paint));
    if (face.decidePlan !== undefined) return face.decidePlan(written.plan);
    const terminal = {
      paint: face.paint,
      write: (text: string) => face.write(text),
      view: { note: (text: string) => face.note(text) },
      input: face.input,
      policy: "ask" as const,
    };
    await approveAndRun(written.plan, plans, { terminal, signal }, {}, (work) => work(signal));
  }

  async #commanded({ name, text }: { readonly name: string; readonly text: string }): Promise<CommandResult> {
    const place = await this.#place();
    const wanted = name === "exit" ? "quit" : name;
    const command = slashCommands(place).find((each) => each.name === wanted);
    if (command === undefined) return { type: "said", text: `There is no /${name}. /help shows what can be typed.` };
    return command.run(place, text);
  }

  async #carryOut(result: CommandResult): Promise<void> {
    const { face } = this.#options;
    switch (result.type) {
      case "said":
        return result.text === "" ? undefined : face.write(`${terminalSafe(result.text.trimEnd())}\n`);
      case "prompt":
        if (!this.#planning) return this.#request(result.text, result.scenario || this.#scenario);
        if (result.scenario === "") return this.#plan(result.text);
        return face.write("Plan mode has a way of its own. Choose another mode first.\n");
      case "continue":
        return this.#turn({ text: "", continues: result.turnId, branchTask: "continued" });
      case "show":
        if (result.view !== "plan") return face.show(result);
        if (result.text !== "") return this.#plan(result.text);
        return face.decidePlan === undefined ? this.startPlanning() : face.show(result);
    }
  }

  /** What is typed from now on is planned. */
  async startPlanning(): Promise<void> {
    // An approved plan acts as in branch mode.
    await this.changeSettings({ editingMode: "branch" });
    this.#planning = true;
    this.#options.face.note("Plan mode from now on: what you type is planned, and runs after your yes.");
    this.#options.face.changed();
  }

  async changeSettings(choice: SettingsChoice): Promise<boolean> {
    this.#settings = await this.session.changeSettings(choice, { signal: this.#options.signal });
    if (choice.editingMode !== undefined) this.#planning = false;
    this.#options.face.changed();
    return true;
  }

  async #place(): Promise<CommandPlace> {
    const { server, face, signal } = this.#options;
    const { sessionId, workingDir, client } = this.session;
    const { scenarios, skills } = await client.listScenarios({ sessionId }, { signal });
    return {
      session: { sessionId, workingDir, client, settings: this.#settings ?? this.session.settings },
      governance: server.governance,
      userName: userInfo().username,
      views: face.views,
      mode: ({ plan: "Plan", proposal: "Proposal", branch: "Branch" } as const)[this.mode],
      scenarios,
      skills,
      signal,
      cutOffTurn: async () => this.#view.facts.peek().cutOffTurn ?? this.session.cutOffTurn,
      undo: async () => describeUndone(await this.session.undo({ signal })),
      changeSettings: (choice) => this.changeSettings(choice),
      useScenario: (name) => {
        this.#scenario = name;
      },
      openSession: async (id) => {
        await this.open(id);
      },
      quit: () => this.leave(),
    };
  }

  async #lookAtWorkspace(): Promise<void> {
    const { session, signal } = { session: this.session, signal: this.#options.signal };
    const state = await getWorkspaceState(session.client, { sessionId: session.sessionId, signal }).catch(
      () => undefined,
    );
    if (this.#session !== session) return;
    this.#workspace = state ?? this.#workspace;
    this.#options.face.changed();
  }

  #leaveSession(): void {
    this.#following.abort();
    this.#following = new AbortController();
    this.#attached = Promise.withResolvers<void>();
    this.#isGone = false;
  }
}

/** The session is not followed any more. */
class Gone extends Error {
  override readonly name = "Gone";
}

function elsewhere({ sessionId, workingDir }: AgentSession): CliError {
  return new CliError(`Session ${sessionId} belongs to ${workingDir}.`, {
    exitCode: 2,
    next: [`Run it there: --workspace ${workingDir}`],
  });
}
