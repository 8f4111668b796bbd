import { timestampMs } from "@bufbuild/protobuf/wkt";
import { setIntentsMode } from "@gennai/client/governance/intents";
import type { AgentSession } from "@gennai/client/session/agent-session";
import { errorMessage } from "@gennai/protocol/error-message";
import { type InvokeEvent, RequestResolution } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { ConfirmationAnswer } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { planStateWords } from "@gennai/protocol/model/governance/plan";
import { violationShownMs } from "@gennai/protocol/model/governance/violation-shown";
import * as vscode from "vscode";
import { LogLevel, type LogOutputChannel } from "vscode";
import { showInformation } from "../editor/notifications.ts";
import type { ServerConnection } from "../server/server-connection.ts";
import { emergencyWords, readGovernance } from "../session/governance-facts.ts";
import { keepIntentsWish } from "../session/intents-wish.ts";
import { readSessionSettings } from "../session/read-settings.ts";
import type { TurnProgress } from "../session/turn-progress.ts";
import type { WorkspaceSession } from "../session/workspace-session.ts";
import { did } from "../settings/did.ts";
import type { GennaiSettings } from "../settings/settings.ts";
import type { BackgroundTerminals } from "../terminal/background-terminals.ts";
import type { Attention } from "./attention.ts";
import type { BlockedCalls } from "./blocked-calls.ts";
import type { SessionTree } from "./session-tree.ts";
import type { TimelineTree } from "./timeline-tree.ts";
import type { TodoTree } from "./todo-tree.ts";
import type { WindowStatus } from "./window-status.ts";

export interface SessionWatchOptions {
  readonly log: LogOutputChannel;
  readonly settings: () => GennaiSettings;
  readonly connection: () => ServerConnection | undefined;
  readonly parts: () => ShownParts;
  readonly isWatching: () => boolean;
}

/** Where it is shown. */
export interface ShownParts {
  readonly sessions: WorkspaceSession;
  readonly status: WindowStatus;
  readonly attention: Attention;
  readonly blockedCalls: BlockedCalls;
  readonly progress: TurnProgress;
  readonly todos: TodoTree;
  readonly timeline: TimelineTree;
  readonly sessionTree: Pick<SessionTree, "look">;
  readonly background: BackgroundTerminals;
  /** `waiting`: the number of open questions. */
  readonly views: { waiting: number };
}

/**
 * Milliseconds over which changes are gathered before they are shown or loaded. A session that is opened again sends all its
 * events at once, and each command to the workbench takes time.
 */
const gather = { facts: 50, todos: 100, settings: 100, governance: 300, sessions: 300 } as const;
/** Events after which the list of sessions says something else of this one. */
const changesList: ReadonlySet<InvokeEvent["event"]["case"]> = new Set([
  "status",
  "confirmationRequest",
  "userQuestionRequest",
  "clientRequestResolved",
  "changeSetApplied",
  "changeSetUndone",
  "proposalReview",
  "sessionRenamed",
] as const);
const callTimeoutMs = 10_000;
/** Milliseconds: events from shortly before a window follows a session are still news to its user. */
const stillNews = 10_000;

/** Keeps what the window shows besides the REPL up to date: status bar, todos, timeline, notifications. */
export class SessionWatch implements Disposable {
  readonly #options: SessionWatchOptions;
  readonly #waiting = new Map<keyof typeof gather, ReturnType<typeof setTimeout>>();
  readonly #contexts = new Map<string, boolean | string>();
  /** Shows the number of rules again. */
  #violationOver: ReturnType<typeof setTimeout> | undefined;
  #timelineShown = false;
  /** Newest event of the session when this window began to follow it. */
  #heardUntil = 0n;

  constructor(options: SessionWatchOptions) {
    this.#options = options;
  }

  /** Called when another session is followed. */
  onSession(session: AgentSession): void {
    this.#options.log.info(`Session ${session.sessionId} in ${session.workingDir}`);
    this.#heardUntil = session.lastSeq;
    this.#parts.blockedCalls.forget();
    this.#parts.status.settings = session.settings;
    this.#setContext("gennai.sessionOpen", true);
    this.#setContext("gennai.planState", "");
    this.#loadTodos();
    this.#parts.sessionTree.look();
    this.governanceSoon();
    if (this.#timelineShown) void this.showTimeline(true);
  }

  onEvent(event: InvokeEvent, session: AgentSession): void {
    logEvent(this.#options.log, event);
    if (changesList.has(event.event.case)) this.#soon("sessions", async () => this.#parts.sessionTree.look());
    switch (event.event.case) {
      case "todosChanged":
      case "sessionCleared":
        this.#loadTodos();
        return;
      case "backgroundRunChanged":
        this.#parts.background.showRunning(session).catch(this.#warn("The background runs could not be read."));
        return;
      case "settingsChanged":
        this.#soon("settings", () => this.#readSettings(session));
        return;
      case "ruleViolation":
        if (event.event.value.action === "blocked" && this.#isNews(event)) {
          this.#parts.blockedCalls.add(event.event.value);
        }
        this.governanceSoon();
        clearTimeout(this.#violationOver);
        this.#violationOver = setTimeout(() => this.governanceSoon(), violationShownMs);
        return;
      case "planChanged":
        this.#setContext("gennai.planState", planStateWords.fromMessage(event.event.value.state) ?? "");
        return;
      case "emergencyChanged":
      case "rulesChanged":
      case "intentSelected":
        this.governanceSoon();
        return;
      case "final":
        if (this.#isNews(event)) did("asked");
        return;
      case "clientRequestResolved": {
        const { resolution, answer } = event.event.value;
        const isAnswer = resolution === RequestResolution.ANSWERED && answer !== ConfirmationAnswer.UNSPECIFIED;
        if (isAnswer && this.#isNews(event)) did("governed");
        return;
      }
      case "toolResult":
      case "changeSetApplied":
        if (this.#timelineShown) this.governanceSoon();
        return;
      default:
    }
  }

  onFacts(): void {
    this.#soon("facts", async () => this.#showFacts());
  }

  async showTimeline(visible: boolean): Promise<void> {
    this.#timelineShown = visible;
    if (visible) await this.#parts.timeline.load().catch(this.#warn("The ledger could not be read."));
  }

  async readGovernance(): Promise<void> {
    const connection = this.#options.connection();
    if (connection === undefined) return;
    const sessionId = this.#parts.sessions.session?.sessionId ?? "";
    const governance = await readGovernance(connection.governance, sessionId, {
      signal: AbortSignal.timeout(callTimeoutMs),
    });
    this.#parts.status.governance = governance;
    this.#setContext("gennai.emergency", emergencyWords(governance.emergency).length > 0);
    this.#setContext("gennai.violation", governance.lastViolation !== "");
  }

  [Symbol.dispose](): void {
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
    clearTimeout(this.#violationOver);
  }

  get #parts(): ShownParts {
    return this.#options.parts();
  }

  #warn(what: string): (error: unknown) => void {
    return (error) => this.#options.log.warn(what, errorMessage(error));
  }

  /** Runs the work once for all requests within the time of `gather`. */
  #soon(what: keyof typeof gather, work: () => Promise<void>): void {
    if (this.#waiting.has(what)) return;
    const timer = setTimeout(() => {
      this.#waiting.delete(what);
      void work();
    }, gather[what]);
    this.#waiting.set(what, timer);
  }

  async #keepIntents(): Promise<void> {
    const { settings, connection } = this.#options;
    const { session } = this.#parts.sessions;
    const governance = connection()?.governance;
    if (session === undefined || governance === undefined) return;
    const changed = await keepIntentsWish({
      wanted: () => settings().intents,
      now: () => this.#parts.status.governance.intents,
      isWatching: this.#options.isWatching,
      set: async (mode) => {
        const signal = AbortSignal.timeout(callTimeoutMs);
        const why = await setIntentsMode(governance, session.sessionId, mode, { signal });
        void showInformation(`Intents: ${mode}, as your settings say. ${why}`);
      },
    });
    if (changed) await this.readGovernance();
  }

  #showFacts(): void {
    const { sessions, views } = this.#parts;
    const { facts } = sessions;
    views.waiting = facts.questions.size;
    this.#setContext("gennai.turnRunning", facts.turn !== undefined);
    this.#setContext("gennai.proposalOpen", facts.openProposals.size > 0);
    this.#setContext("gennai.changed", sessions.view.changeSets.length > 0);
    this.#setContext("gennai.watching", this.#options.isWatching());
    this.#parts.attention.update(facts.questions);
    this.#parts.progress.update(facts.turn);
    this.#parts.status.show();
  }

  /** The palette shows what applies now by these. */
  #setContext(key: string, value: boolean | string): void {
    if (this.#contexts.get(key) === value) return;
    this.#contexts.set(key, value);
    void vscode.commands.executeCommand("setContext", key, value);
  }

  /** False for old events: a session that is opened again sends all its events. */
  #isNews({ seq, time }: InvokeEvent): boolean {
    return seq > this.#heardUntil || (time !== undefined && Date.now() - timestampMs(time) < stillNews);
  }

  #loadTodos(): void {
    this.#soon("todos", async () => this.#parts.todos.show());
  }

  async #readSettings(session: AgentSession): Promise<void> {
    try {
      this.#parts.status.settings = await readSessionSettings(session.client, session.sessionId);
    } catch (error) {
      this.#warn("The settings could not be read.")(error);
    }
  }

  /** To be called if the user's setting about intents may have changed. */
  governanceSoon(): void {
    this.#soon("governance", async () => {
      await this.readGovernance().catch(this.#warn("The rules and policies could not be read."));
      await this.#keepIntents().catch(this.#warn("The setting gennai.governance.intents is not in force."));
      if (this.#timelineShown) await this.showTimeline(true);
    });
  }
}

/** Logs every event, unchanged, at trace level; warnings and errors at their own level. */
function logEvent(log: LogOutputChannel, event: InvokeEvent): void {
  if (log.logLevel === LogLevel.Trace) {
    log.trace(`${event.seq} ${event.event.case ?? "?"}`, JSON.stringify(event, bigintText));
  }
  if (event.event.case === "warning") log.warn(event.event.value);
  if (event.event.case === "error") log.error(event.event.value);
}

function bigintText(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  return value instanceof Uint8Array ? `${value.byteLength} bytes` : value;
}
