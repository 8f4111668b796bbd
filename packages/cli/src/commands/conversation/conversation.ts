import { userInfo } from "node:os";
import { Code, ConnectError } from "@connectrpc/connect";
import type { CommandPlace, CommandResult, SlashCommand } from "@gennai/client/commands/command";
import { slashCommands, typedCommand, usersCommand } from "@gennai/client/commands/slash-commands";
import type { ClientIdentity } from "@gennai/client/connection/client-identity";
import { AgentSession } from "@gennai/client/session/agent-session";
import type { TurnRequest } from "@gennai/client/session/turn";
import { endsTurn, turnOutcome } from "@gennai/client/session/turn-state";
import { getWorkspaceState, type WorkspaceState } from "@gennai/client/session/workspace-state";
import { SessionPlans } from "@gennai/client/session-plans";
import type { SessionView } from "@gennai/client/view/session-view";
import { type TurnReport, turnReport } from "@gennai/client/view/turn-report";
import { errorMessage } from "@gennai/protocol/error-message";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { planScenarioName } from "@gennai/protocol/model/governance/plan";
import type { EditingMode, SettingsChoice } from "@gennai/protocol/model/session/session-settings";
import pLimit from "p-limit";
import type { ChosenServer } from "../../connection/server-choice.ts";
import { asCliError, CliError } from "../../terminal/cli-error.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { describeNoPlan } from "../plan/plan-text.ts";
import { writePlan } from "../plan/write-plan.ts";
import { approveAndRun } from "../run/plan-mode.ts";
import { describeBesides } from "../sessions/undo-text.ts";
import type { Face } from "./face.ts";
import { Gone, ShownSession } from "./shown-session.ts";

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

interface BegunTurn {
  readonly session: AgentSession;
  /** When it has ended. Rejects if it cannot be watched. */
  readonly report: Promise<TurnReport>;
}

/** A person's conversation with the agent: a session that is followed, whatever others do in it, and what the person does there. */
export class Conversation {
  readonly #options: ConversationOptions;
  #followed: ShownSession | undefined;
  #settings: AgentSession["settings"] | undefined;
  #workspace: WorkspaceState | undefined;
  #scenario: string;
  #planning: boolean;
  #leaves = false;
  readonly #beginnings = pLimit(1);
  #stopping = false;
  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#scenario = options.scenario;
    this.#planning = options.isPlanning;
  }

  /** Throws before the first `open`. */
  get session(): AgentSession {
    return this.#open.session;
  }

  get governance(): ConversationOptions["server"]["governance"] {
    return this.#options.server.governance;
  }

  get plans(): ConversationOptions["server"]["plans"] {
    return this.#options.server.plans;
  }

  get view(): SessionView {
    return this.#open.view;
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
    return this.#followed?.isRunning === true;
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
      if (Object.keys(changes).length > 0 && this.#followed === undefined)
        await session.changeSettings(changes, { signal });
    }
    this.close();
    const followed: ShownSession = new ShownSession(session, face, (event) => this.#seen(event, followed));
    this.#followed = followed;
    this.#settings = session.settings;
    face.opened(followed.view, sessionId === undefined ? 0n : session.lastSeq);
    await followed.attached;
    void this.#lookAtWorkspace();
    return session;
  }

  /** Tries again to reach a server that was given up. */
  reconnect(): void {
    if (this.#followed?.isGone === true) this.#followed.reconnect();
  }

  /**
   * Does what was typed: a command, a request, or a message to the turn that runs. Never rejects: the face says what went wrong.
   * @param images that go along with a request, or a message
   */
  async submit(text: string, images: readonly Uint8Array[] = []): Promise<void> {
    const typed = typedCommand(text);
    const command = usersCommand(text);
    await this.attempt(async () => {
      if (images.length > 0 && (command ?? typed ?? (this.#planning ? text : undefined)) !== undefined)
        throw new CliError("Images can only be sent with a prompt.", {
          next: ["Describe what they show, or leave them out."],
        });
      if (typed !== undefined) return this.#carryOut(await this.#commanded(typed));
      if (command === undefined && this.#planning && !this.isRunning) return this.#plan(text);
      const begun = await (command === undefined
        ? this.#request(text, this.#scenario, images)
        : this.#runCommand(command)
      ).catch((error: unknown) => {
        this.#options.face.putBack(text);
        throw error;
      });
      await this.#end(begun);
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
    const message = this.view.facts.peek().queuedMessages.at(-1);
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
    if (this.#stopping || this.#followed === undefined) return;
    this.#stopping = true;
    try {
      await this.session.stop("session", "Stopped by the user at the terminal.", { signal: this.#options.signal });
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
    await this.#followed?.idle();
  }

  close(): void {
    void this.#followed?.[Symbol.asyncDispose]();
  }

  get #open(): ShownSession {
    if (this.#followed === undefined) throw new CliError("The session is not open yet.", { next: ["Wait a moment."] });
    return this.#followed;
  }

  #seen(event: InvokeEvent, { session, view }: ShownSession): void {
    const { face } = this.#options;
    if (movesWorkspace.has(event.event.case)) void this.#lookAtWorkspace();
    if (turnOutcome(event) === undefined || view.facts.peek().turn !== undefined) return;
    void this.#lookAtWorkspace();
    // What an ended turn did not get is the person's again.
    const left = view.facts.peek().queuedMessages.filter(({ turnId }) => turnId === event.turnId);
    const { client, sessionId } = session;
    for (const { messageId } of left) {
      client.withdrawMessage({ sessionId, messageId }, { signal: this.#options.signal }).then(
        ({ text }) => face.putBack(text),
        () => undefined,
      );
    }
  }

  /** Begins a turn and waits for its end. Rejects if it does not begin, or cannot be watched. */
  async #run(request: TurnRequest): Promise<TurnReport> {
    return (await this.#begin(request)).report;
  }

  /** Resolves once the turn is seen. Rejects if it does not begin. */
  async #begin(request: TurnRequest): Promise<BegunTurn> {
    const followed = this.#open;
    const { session } = followed;
    await followed.attached;
    const { turnId } = await session.startTurn(request, { signal: this.#options.signal });
    const isOver = (): boolean =>
      followed.view.cells.some(({ item }) => {
        const end = item.peek();
        return end.kind === "turn-end" && end.turnId === turnId;
      });
    const ended = isOver() ? Promise.resolve() : followed.until((event) => endsTurn(event, turnId));
    const report = ended.then(() => turnReport(followed.view, turnId));
    // Whoever waits for the report is told.
    report.catch(() => undefined);
    if (!followed.isRunning && !isOver())
      await followed.until(() => followed.isRunning || isOver()).catch(() => undefined);
    return { session, report };
  }

  /** One after the other, as they were typed: what comes behind the beginning of a turn is a message to it. */
  async #request(text: string, scenario: string, images: readonly Uint8Array[] = []): Promise<BegunTurn | undefined> {
    return this.#beginnings(async () => {
      if (this.isRunning) {
        const message = { messageId: crypto.randomUUID(), text, images };
        const isTaken = await this.session.queueMessage(message, { signal: this.#options.signal }).then(
          () => true,
          (error: unknown) => {
            // The turn ended meanwhile: this begins the next one.
            if (ConnectError.from(error).code !== Code.FailedPrecondition) throw error;
            return false;
          },
        );
        if (isTaken) return undefined;
      }
      const { prepare, thinking } = this.#options;
      await prepare(text, this.mode, this.session);
      return this.#begin({ text, branchTask: text, scenario, enableThinking: thinking, images });
    });
  }

  async #runCommand(text: string): Promise<BegunTurn> {
    return this.#beginnings(async () => {
      if (this.isRunning)
        throw new CliError("Your command can run when this turn has ended.", { next: ["Esc stops it."] });
      return this.#begin({ text, runsCommand: true, branchTask: text });
    });
  }

  async #end(begun: BegunTurn | undefined): Promise<void> {
    if (begun !== undefined) await this.#options.afterTurn(await begun.report, begun.session);
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
        if (!this.#planning) return this.#end(await this.#request(result.text, result.scenario || this.#scenario));
        if (result.scenario === "") return this.#plan(result.text);
        return face.write("Plan mode cannot change its scenario. Choose another mode first.\n");
      case "continue":
        return this.#end(await this.#begin({ text: "", continues: result.turnId, branchTask: "continued" }));
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
      cutOffTurn: async () => this.view.facts.peek().cutOffTurn ?? this.session.cutOffTurn,
      undo: async () => describeBesides(await this.session.undo({ signal })),
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
    if (this.#followed?.session !== session) return;
    this.#workspace = state ?? this.#workspace;
    this.#options.face.changed();
  }
}

/** Events after which branch or changed files are others, also when no turn runs. */
const movesWorkspace: ReadonlySet<InvokeEvent["event"]["case"]> = new Set([
  ...(["branchChanged", "changeSetApplied", "changeSetUndone", "checkpointRestored"] as const),
]);

function elsewhere({ sessionId, workingDir }: AgentSession): CliError {
  return new CliError(`Session ${sessionId} belongs to ${workingDir}.`, {
    exitCode: 2,
    next: [`Run it there: --workspace ${workingDir}`],
  });
}
