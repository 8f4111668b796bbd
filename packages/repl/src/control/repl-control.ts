import type { ClientIdentity } from "@gennai/client/connection/client-identity";
import {
  type AgentClient,
  connect,
  connectGovernance,
  connectPlans,
  type GovernanceClient,
  type PlanClient,
} from "@gennai/client/connection/connection";
import type { ConfirmationQuestion } from "@gennai/client/connection/editor";
import type { ReplPanel, ReplSettings } from "@gennai/client/host/host-messages";
import type { ChosenModel, HostCommand } from "@gennai/client/host/window-requests";
import { askApprovals } from "@gennai/client/questions/approvals";
import { AgentSession } from "@gennai/client/session/agent-session";
import type { SessionView } from "@gennai/client/view/session-view";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { Backend } from "@gennai/protocol/model/session/backend";
import type { SettingsChoice } from "@gennai/protocol/model/session/session-settings";
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { ConfirmationStore, UserQuestionStore } from "../confirmation/confirmation-store.ts";
import type { ReplHost } from "../hosts/repl-host.ts";
import { ShownFailure } from "../look/shown-failure.ts";
import { Announcer } from "./announcer.ts";
import { AttemptControl } from "./attempt-control.ts";
import { handleHostNotice } from "./handle-host-notice.ts";
import { KeptReviews } from "./kept-reviews.ts";
import { keepStateIn, keptStateFrom } from "./kept-state.ts";
import { Opening, type OpeningState } from "./opening.ts";
import { FollowedSession } from "./session/followed-session.ts";
import { ModelStore } from "./session/model-store.ts";
import { SessionDirectory } from "./session/session-directory.ts";
import { notOpened, SessionActions } from "./session-actions.ts";
import { SessionStores } from "./session-stores.ts";
import { choiceOf } from "./settings-choice.ts";
import { TurnControl } from "./turn-control.ts";
import { UnsettledChoice } from "./unsettled-choice.ts";

/** A call of a session that is to be shown in the conversation. */
export interface SoughtCall {
  readonly sessionId: string;
  readonly turnId: string;
  readonly callId: string;
}

/** What the host says about the connection to the server, and what may repair it. */
export interface ServerNotice {
  readonly message: string;
  /** Commands to offer; undefined: to start a server, and to show the log. */
  readonly steps: readonly HostCommand[] | undefined;
}

/**
 * What the app does: opens, follows and leaves sessions, sends prompts and stops turns, and keeps what must survive a reload. The
 * server runs the turns; this class decides nothing about them.
 */
export class ReplControl {
  readonly host: ReplHost;
  readonly agent: AgentClient;
  readonly governance: GovernanceClient;
  readonly plans: PlanClient;
  readonly confirmations = new ConfirmationStore();
  readonly userQuestions = new UserQuestionStore();
  readonly announcer = new Announcer();
  readonly models: ModelStore;
  readonly turns: TurnControl;
  readonly attempts: AttemptControl = new AttemptControl({
    turns: () => this.turns,
    store: async () => {
      await this.#attempt("The attempts could not be started", () => this.begun());
      return this.#stores.value.attempts;
    },
    request: () => ({ scenario: this.scenario.value, enableThinking: true }),
    show: () => {
      this.panel.value = "attempts";
    },
  });
  readonly panel: Signal<ReplPanel>;
  /** The proposal that the review panel shows; undefined: the newest. */
  readonly reviewed = signal<string | undefined>(undefined);
  readonly reviews: KeptReviews;
  /** The call that a link leads to; a new object each time. */
  readonly sought = signal<SoughtCall | undefined>(undefined);
  readonly showThinking: Signal<boolean>;
  /** Whether the conversation shows what only an expert looks for: verdicts, an editor's steps, where lines are today. */
  readonly details: Signal<boolean>;
  /** The host's settings, as it last told them. */
  hostSettings: ReplSettings;
  /** Empty: the server's default for the mode. */
  readonly scenario: Signal<string>;
  readonly directory: SessionDirectory;
  readonly sessions: SessionActions;
  /** Settings for a new session. */
  readonly choice: Signal<SettingsChoice>;
  readonly failure = new ShownFailure();
  /** What the host says about the connection to the server; undefined while it works. */
  readonly serverNotice = signal<ServerNotice | undefined>(undefined);
  /** True if another window works on the workspace, and this one only watches. */
  readonly watching = signal(false);
  /** Whether a person works in the host's window; undefined: the host does not say. */
  readonly windowFocus = signal<boolean | undefined>(undefined);
  readonly #followed = signal<FollowedSession | undefined>(undefined);
  readonly followed: ReadonlySignal<FollowedSession | undefined> = this.#followed;
  readonly #stores: Signal<SessionStores>;
  readonly #wantsNew = signal(false);
  readonly #chosen = new UnsettledChoice();
  readonly #identity: ClientIdentity;
  readonly #end = new AbortController();
  readonly #opened: Promise<void>;
  readonly #opening = new Opening({
    reach: async (signal) => void (await this.agent.getServerInfo({}, { signal })),
    newest: async (signal) => (await this.directory.newest(signal))?.sessionId,
    show: (sessionId, signal) => this.#showFirst(sessionId, signal),
    refused: (error) => this.failure.failed(notOpened, error),
  });

  constructor(host: ReplHost) {
    this.host = host;
    const server = { baseUrl: "", transport: host.transport };
    this.agent = connect(server);
    this.governance = connectGovernance(server);
    this.plans = connectPlans(server);
    // A window of VS Code has one folder, and acts in no other.
    const elsewhere = host.kind === "page";
    this.directory = new SessionDirectory(this.agent, host.launch.workspace, { elsewhere });
    const { clientId, clientName, version, state, settings } = host.launch;
    this.#identity = {
      clientId,
      name: clientName,
      version,
      editor: { confirm: this.confirmations.confirm, askUser: this.userQuestions.askUser },
    };
    const kept = keptStateFrom(state);
    this.panel = signal(kept.panel);
    this.reviews = new KeptReviews(host, kept.reviews);
    this.hostSettings = settings;
    this.showThinking = signal(kept.showThinking ?? settings.showThinking);
    this.details = signal(kept.details);
    this.scenario = signal(kept.scenario ?? settings.scenario);
    this.choice = signal(choiceOf(settings, host.launch.workspace));
    this.models = new ModelStore({
      client: this.agent,
      host,
      onOpen: () => {
        this.panel.value = "chat";
      },
    });
    this.turns = new TurnControl({
      draft: kept.draft,
      queue: kept.queue,
      agent: this.agent,
      followed: this.#followed,
      newSession: async (signal) => {
        // While a session is being opened, a prompt is for that session.
        await this.#opening.tried;
        return this.#followed.value ?? this.#create(signal);
      },
      ready: () => this.ready(),
      request: () => ({ scenario: this.scenario.value, enableThinking: true }),
      failure: this.failure,
      signal: this.#end.signal,
    });
    this.sessions = new SessionActions({
      host,
      agent: this.agent,
      identity: this.#identity,
      directory: this.directory,
      followed: this.#followed,
      turns: this.turns,
      show: (session) => void this.#show(session),
      showNew: () => this.newSession(),
      attempt: (what, work) => this.#attempt(what, work),
    });
    this.#stores = signal(new SessionStores(this, undefined));
    keepStateIn(host, kept, { signal: this.#end.signal }, () => ({
      sessionId: this.#followed.value?.session.sessionId ?? (this.#wantsNew.value ? null : kept.sessionId),
      ...this.turns.toKeep(),
      panel: this.panel.value,
      showThinking: this.showThinking.value,
      details: this.details.value,
      scenario: this.scenario.value,
      reviews: this.reviews.toJson(),
    }));
    const stopListening = host.onNotice((notice) => handleHostNotice(this, notice));
    this.#end.signal.addEventListener("abort", stopListening, { once: true });
    const named = host.launch.sessionId || kept.sessionId;
    if (named === null) this.#wantsNew.value = true;
    this.#opened = this.#opening.begin(named, this.#end.signal);
    void this.#opened.then(() => this.models.learnDefault());
    void this.#opened.then(() => this.#askApprovals());
  }

  get opening(): ReadonlySignal<OpeningState> {
    return this.#opening.state;
  }

  /** Resolves when the first session is shown, or there is none: a prompt sent earlier would start another session. */
  opened(): Promise<void> {
    return this.#opened;
  }

  /** Title of the shown session: renamed or original; empty if there is none. */
  readonly title: ReadonlySignal<string> = computed(() => {
    const view = this.#followed.value?.view.value;
    if (view === undefined || view.count.value === 0) return "";
    const first = view.cells.find(({ item }) => item.peek().kind === "user-message")?.item.peek();
    return view.facts.value.title || (first?.kind === "user-message" ? (first.text.split("\n", 1)[0] ?? "") : "");
  });

  get stores(): ReadonlySignal<SessionStores> {
    return this.#stores;
  }

  /** Aborts when the app ends. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** Resolves when a session is shown; starts one if there is none. */
  async begun(): Promise<void> {
    if (this.#followed.value === undefined) await this.#create(this.#end.signal);
  }

  /** Resolves when a turn may begin: what was chosen is in force. */
  ready(): Promise<void> {
    return this.#chosen.inForce();
  }

  /** The next prompt begins a new session. */
  newSession(): void {
    this.#show(undefined);
    this.#wantsNew.value = true;
    this.panel.value = "chat";
  }

  /** Goes to a call, also in another session. */
  async showCall({ sessionId, turnId, callId }: SoughtCall): Promise<void> {
    if (sessionId !== this.#followed.value?.session.sessionId) await this.sessions.switchTo(sessionId);
    if (sessionId !== this.#followed.value?.session.sessionId) return;
    this.panel.value = "chat";
    this.sought.value = { sessionId, turnId, callId };
  }

  /** Changes the shown session, also one that is being opened, and later ones. False if the server refused. */
  async changeSettings(choice: SettingsChoice): Promise<boolean> {
    const { workingDir: _fixed, ...rest } = choice;
    const followed = this.#followed.value;
    if (followed === undefined) this.#chosen.keep(rest);
    const changed = followed === undefined || (await this.#change(followed, rest));
    if (changed) this.choice.value = { ...this.choice.value, ...rest };
    return changed;
  }

  /** The backend of the next turn; undefined: not known yet. */
  readonly backend: ReadonlySignal<Backend | undefined> = computed(
    () => (this.#followed.value?.settings.value ?? this.choice.value).backend ?? this.models.defaultBackend.value,
  );

  /** True if no model was chosen, neither by the user nor for the server. */
  readonly lacksModel: ReadonlySignal<boolean> = computed(
    () => this.choice.value.backend === undefined && this.backend.value === "offline",
  );

  /** Changes the shown session, and later ones, also in other windows. False if the server refused. */
  async useModel(chosen: ChosenModel): Promise<boolean> {
    const { backend, model, baseUrl } = chosen;
    const choice = {
      backend,
      ...(model === "" ? {} : { model }),
      ...(baseUrl === "" ? {} : { baseUrl, handedKeyOnly: true }),
    };
    const { model: _before, baseUrl: _place, handedKeyOnly: _key, ...others } = this.choice.value;
    if (!(await this.changeSettings(choice))) return false;
    this.choice.value = { ...others, ...choice };
    return this.#attempt("The model could not be kept for other sessions", () => this.host.keepModel(chosen));
  }

  /** Stops the countdown of a question, for every client. */
  async waitFor({ requestId, sessionId: asking }: ConfirmationQuestion): Promise<void> {
    const sessionId = asking ?? this.#followed.value?.session.sessionId;
    if (sessionId === undefined) return;
    await this.#attempt("The question goes on counting", async (signal) => {
      await this.agent.waitForAnswer({ sessionId, requestId }, { signal });
    });
  }

  /** Shows a proposal for review. */
  showReview(proposalId: string): void {
    this.reviewed.value = proposalId;
    this.panel.value = "review";
  }

  /** Shows what restoring to the point before a turn would do, so that the person can agree. */
  async offerRestore(turnId: string): Promise<void> {
    const { checkpoints } = this.#stores.value;
    await checkpoints?.load();
    await checkpoints?.preview(turnId);
    this.panel.value = "checkpoints";
  }

  [Symbol.dispose](): void {
    this.#end.abort();
    this.#followed.value?.[Symbol.dispose]();
    this.#stores.value[Symbol.dispose]();
    this.models[Symbol.dispose]();
  }

  async #showFirst(sessionId: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      const session = await AgentSession.resume(this.agent, this.#identity, sessionId, { signal });
      if (this.#followed.value !== undefined || this.#wantsNew.value) return;
      const chosen = this.#chosen.take();
      if (chosen === undefined) return void this.#show(session);
      // The session is loaded again after this, and shown with the settings in force.
      await this.#change(session, chosen);
    }
  }

  /** Never rejects: nobody asked for it. */
  async #askApprovals(): Promise<void> {
    await askApprovals(this, {
      confirm: this.confirmations.confirm,
      isSeen: () => document.visibilityState === "visible",
      failed: (error) => this.failure.failed("The answer was not taken", error),
      signal: this.#end.signal,
    }).catch(() => undefined);
  }

  /** False if the server refused. */
  #change(session: Pick<FollowedSession | AgentSession, "changeSettings">, choice: SettingsChoice): Promise<boolean> {
    return this.#chosen.change(() =>
      this.#attempt("The settings could not be changed", async (signal) => {
        await session.changeSettings(choice, { signal });
      }),
    );
  }

  async #create(signal: AbortSignal): Promise<FollowedSession> {
    const options = { interactive: true, signal };
    return this.#show(await AgentSession.start(this.agent, this.#identity, this.choice.value, options));
  }

  #show(session: AgentSession): FollowedSession;
  #show(session: undefined): undefined;
  #show(session: AgentSession | undefined): FollowedSession | undefined {
    this.#followed.value?.[Symbol.dispose]();
    this.#wantsNew.value = false;
    this.sought.value = undefined;
    if (this.#followed.value !== undefined || session === undefined) this.turns.leave();
    if (session === undefined) {
      this.#followed.value = undefined;
      this.#setStores(undefined);
      this.host.showsSession("");
      return undefined;
    }
    const followed = new FollowedSession({
      session,
      onEvents: (events, view) => this.#seen(followed, events, view),
      onProblem: (failure) => this.failure.show(failure),
    });
    this.#setStores(followed);
    this.#followed.value = followed;
    this.host.showsSession(session.sessionId);
    return followed;
  }

  #setStores(followed: FollowedSession | undefined): void {
    this.#stores.value[Symbol.dispose]();
    this.#stores.value = new SessionStores(this, followed);
  }

  #seen(followed: FollowedSession, events: readonly InvokeEvent[], view: SessionView): void {
    if (followed !== this.#followed.value) return;
    this.announcer.tell(events);
    for (const { event } of events) {
      if (event.case === "clientRequestWaits") this.confirmations.waits(event.value.requestId);
    }
    this.#stores.value.handle(events);
    if (events.some(({ event }) => event.case === "settingsChanged")) void followed.refreshSettings();
    this.turns.seen(events, view);
  }

  /** False if it failed; the failure is shown. */
  async #attempt(what: string, work: (signal: AbortSignal) => Promise<void>): Promise<boolean> {
    try {
      await work(this.#end.signal);
      this.failure.worked(what);
      return true;
    } catch (error) {
      if (!this.#end.signal.aborted) this.failure.failed(what, error);
      return false;
    }
  }
}
