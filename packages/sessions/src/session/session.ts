import type { Conversation } from "@gennai/agent/conversation/conversation";
import type { FileChangeRecord } from "@gennai/agent/events/proposal";
import type { BackgroundRunRecord, SessionEvent } from "@gennai/agent/events/session-event";
import { RememberedAnswers } from "@gennai/governance/gate/confirm/remembered-answers";
import { RunningCalls } from "@gennai/governance/gate/running-calls";
import type { Intent } from "@gennai/governance/intents/intent";
import { type LedgerEntry, outsideTurns } from "@gennai/governance/ledger/ledger-entry";
import { recordedFiles } from "@gennai/machine/redaction/masked-paths";
import { ServiceError } from "@gennai/machine/service-error";
import { knownHead } from "@gennai/machine/workspace/known-head";
import { WorkspaceError } from "@gennai/machine/workspace/paths/workspace-error";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import type { ClientWorkspaceFacts } from "@gennai/protocol/model/session/client-workspace";
import type { EditorRequestKind } from "@gennai/protocol/model/session/editor-messages";
import type { SessionSettings } from "@gennai/protocol/model/session/session-settings";
import type { Todo } from "@gennai/protocol/model/session/todo";
import type { BlobStore, ForgottenSession, SessionHead } from "@gennai/store/log/session-log";
import type { BackgroundRunChange } from "../background/background-run-facts.ts";
import { BackgroundRuns } from "../background/background-runs.ts";
import { ClientRegistry } from "../bridge/client-registry.ts";
import { PendingRequests } from "../bridge/pending-requests.ts";
import { SessionWorkspaceChannel } from "../bridge/workspace-channel.ts";
import { type SettledSettings, tellSessionEnd } from "../rules/session-hooks.ts";
import { OwnedLog } from "./owned-log.ts";
import { QueuedMessages } from "./queued-messages.ts";
import { SessionActs } from "./session-acts.ts";
import type { SessionServices } from "./session-services.ts";
import { SessionTurns } from "./session-turns.ts";
import type { SessionWriter } from "./session-writer.ts";
import { SeenContents } from "./state/seen-contents.ts";
import { SessionState } from "./state/session-state.ts";
import type { OpenRestore } from "./state/work-steps.ts";

/**
 * One session: its log, the state folded from it, and its running turn. The turn belongs to the session, not to a client's
 * stream.
 */
export class Session {
  readonly id: string;
  /** The session's user; empty on a server with one user. */
  readonly user: string;
  readonly workspace: Workspace;
  readonly clients = new ClientRegistry();
  readonly requests: PendingRequests;
  readonly remembered = new RememberedAnswers();
  /** SHA-256 of the policies in their newest record here; empty if there is none. */
  policyRecorded = "";
  readonly seen: SeenContents;
  /** By host: its address in the machine's own networks, if a login was to be sent there. */
  readonly privateHosts = new Map<string, string>();
  /**
   * What clients attached so far could do for the agent. Tools that a model was told of stay when an editor leaves, so that its provider
   * finds the beginning of the next request in its cache.
   */
  readonly editorAbilities = new Set<EditorRequestKind>();
  /** Why users' programs are to be told of its start, before the next prompt; undefined: they were. */
  startDue: "startup" | "resume" | "clear" | "compact" | undefined;
  /** The settings of its last turn here, and the programs that are told of changes since; undefined: there was none. */
  settled: SettledSettings | undefined;
  /** What users' programs said about messages that wait. */
  readonly hookContext: SessionEvent[] = [];
  readonly outputs: LargeOutputs;
  /** Messages to the running turn. */
  readonly queuedMessages: QueuedMessages;
  /** Running calls of its turn; each can be stopped without the turn. */
  readonly runningCalls = new RunningCalls();
  /** Its background runs; they end with it. */
  readonly background: BackgroundRuns;
  readonly state: SessionState;
  readonly services: SessionServices;
  readonly acts = new SessionActs();
  readonly turns: SessionTurns;
  readonly #log: OwnedLog;

  private constructor(
    services: SessionServices,
    workspace: Workspace | ClientWorkspaceFacts,
    head: SessionHead,
    state: SessionState,
  ) {
    this.services = services;
    this.seen = new SeenContents(services.blobs, services.redactor);
    this.outputs = new LargeOutputs(services.blobs);
    this.id = head.sessionId;
    this.user = head.user;
    this.state = state;
    this.startDue = state.turns.size === 0 ? "startup" : "resume";
    this.#log = new OwnedLog(services, head, state);
    this.turns = new SessionTurns(this, this.#log);
    this.queuedMessages = new QueuedMessages({
      state,
      writer: () => this.#log.writer,
      catchUp: () => this.catchUp(),
    });
    this.requests = new PendingRequests({
      clients: this.clients,
      log: () => this.#log.writer,
      waitForClientMs: services.confirmation.waitForClientMs,
      now: services.now,
      redactor: services.redactor,
      observer: services.observer,
    });
    this.background = new BackgroundRuns({
      redactor: services.redactor,
      emergency: services.emergency,
      now: services.now,
      startedBefore: () => state.backgroundRuns,
      record: (change) => this.#recordBackground(change),
      onUnexpectedError: (error) => services.onUnexpectedError(error),
    });
    this.workspace = "resolve" in workspace ? workspace : this.#heldByClient(workspace);
  }

  /**
   * Opens a logged session: folds its events, and ends a turn whose process is gone.
   * @param clientWorkspace for a new session whose files a client holds
   */
  static async open(
    services: SessionServices,
    head: SessionHead,
    clientWorkspace?: ClientWorkspaceFacts,
  ): Promise<Session> {
    const state = new SessionState();
    for (;;) {
      const page = await services.log.read(head.sessionId, state.lastSeq, 1000);
      for (const event of page) state.apply(event);
      if (page.length < 1000) break;
    }
    const held = clientWorkspace ?? state.clientWorkspace;
    const workspace = held ?? (await openWorkspaceAgain(services, head));
    const session = new Session(services, workspace, { ...head, lastSeq: state.lastSeq }, state);
    await session.#log.recover();
    return session;
  }

  get settings(): SessionSettings {
    return this.state.settings ?? this.services.defaultSettings;
  }

  get writer(): SessionWriter {
    return this.#log.writer;
  }

  /** True if no turn and no background command runs, no client listens, and everything is written: it can be closed and reopened. */
  get isIdle(): boolean {
    return !this.turns.isBusy && !this.clients.isAttached && this.writer.queued === 0 && !this.background.isRunning;
  }

  get runningTurnId(): string | undefined {
    return this.turns.runningTurnId;
  }

  /**
   * Deletes the session permanently. Rejects with `ServiceError` while a turn or a user's action is running.
   * @param refuse throws if deleting is forbidden; called when nothing else is running
   */
  delete(by: string, refuse?: () => void): Promise<ForgottenSession> {
    return this.turns.instead("delete the session", () =>
      this.acts.last(async () => {
        refuse?.();
        await this.catchUp();
        await this.background.stopAll("the deletion of the session");
        await this.writer.flush();
        refuse?.();
        return this.services.log.forget(this.id, by);
      }),
    );
  }

  /** Throws `ServiceError`. @param what e.g. `change the settings` */
  refuseWhileRunning(what: string): void {
    if (this.runningTurnId === undefined) return;
    throw new ServiceError("failed_precondition", `A turn is running; it must end before you ${what}.`, {
      reason: "turn_running",
      hint: "Wait for its end, or stop it.",
    });
  }

  /**
   * Reads what another process wrote to the session, and makes it ours. While our turn runs, it is ours already. Rejects with
   * `ServiceError` while another process runs a turn of it.
   */
  async catchUp(): Promise<void> {
    if (this.runningTurnId === undefined) await this.#log.takeOverIfBehind();
  }

  /** Reads what another server wrote to the session, which stays that server's. */
  async follow(): Promise<void> {
    if (this.runningTurnId === undefined) await this.#log.follow();
  }

  /** Records a user's decision: events and a ledger record in one transaction. */
  async decided(
    events: readonly SessionEvent[],
    kind: LedgerEntry["kind"],
    details: Readonly<Record<string, unknown>>,
    files: readonly FileChangeRecord[] = [],
  ): Promise<void> {
    await this.catchUp();
    const head = knownHead(this.workspace);
    const { activeIntentId } = this.state;
    const entry: LedgerEntry = {
      ...outsideTurns,
      kind,
      time: this.services.now(),
      sessionId: this.id,
      revision: (head.type === "none" ? undefined : head.commit) ?? "",
      files: await recordedFiles(files, this.services.redactor),
      details: activeIntentId === undefined || files.length === 0 ? details : { ...details, intent: activeIntentId },
    };
    await this.writer.commit(events, { turnId: "", ledger: [entry], durable: true });
  }

  /** The user selects the session's intent. */
  async selectIntent(intent: Intent, context: string): Promise<void> {
    await this.decided([{ type: "intent-selected", intent, context }], "session", { intent: intent.id });
  }

  async changeSettings(settings: SessionSettings): Promise<void> {
    this.refuseWhileRunning("change the settings");
    await this.#record({ type: "settings-changed", settings });
  }

  async clear(): Promise<void> {
    this.refuseWhileRunning("clear the session");
    await this.catchUp();
    if (this.startDue === undefined) await tellSessionEnd(this, "clear");
    this.startDue = "clear";
    this.remembered.forget();
    this.seen.clear();
    await this.writer.commit([{ type: "session-cleared" }], { turnId: "", durable: true });
  }

  async writeTodos(items: readonly Todo[]): Promise<void> {
    await this.#record({ type: "todos-changed", items });
  }

  /** Sets a title chosen by the user. */
  async rename(title: string): Promise<void> {
    const masked = await this.services.redactor.redact(title);
    await this.#record({ type: "session-renamed", title: masked });
    await this.services.log.setTitle(this.id, masked);
  }

  /** Records durably what a restore is about to write. */
  async announceRestore(restore: OpenRestore): Promise<void> {
    await this.#record({ type: "checkpoint-restoring", ...restore });
  }

  /** The start of a run is recorded by its call. */
  async #recordBackground({ what, run, connections = [] }: BackgroundRunChange): Promise<void> {
    const { id, command, end, exitCode, ports } = run;
    const record: BackgroundRunRecord = {
      id,
      command,
      ports,
      ...(end === undefined ? {} : { end }),
      ...(exitCode === undefined ? {} : { exitCode }),
    };
    const event: SessionEvent = { type: "background-run", what, run: record };
    if (what === "started") await this.#record(event);
    else {
      const reached = connections.length === 0 ? {} : { connections };
      await this.decided([event], "session", { background: what, ...record, ...reached });
    }
  }

  /**
   * Adds an event that concerns more than this session. Rejects while another server runs a turn of it: that server adds its
   * own.
   */
  async announce(event: SessionEvent): Promise<void> {
    // After an emergency stop, remembered approvals are asked for again.
    if (event.type === "emergency-changed") this.remembered.forget();
    await this.#record(event);
  }

  /** Ends the turn in a fork made in the middle of a turn: the copy would never end. */
  async endCopiedTurn(): Promise<void> {
    await this.#log.closeInterrupted();
  }

  /** Writes an event outside any turn; durable when it resolves. */
  async #record(event: SessionEvent): Promise<void> {
    await this.catchUp();
    await this.writer.commit([event], { turnId: "", durable: true });
  }

  #heldByClient(facts: ClientWorkspaceFacts): Workspace {
    const channel = new SessionWorkspaceChannel({
      clients: this.clients,
      requests: this.requests,
      turnId: () => this.runningTurnId ?? "",
      turnSignal: () => this.turns.signal,
      waitForClientMs: this.services.confirmation.waitForClientMs,
      catchUp: () => this.catchUp(),
      onWaiting: () => this.#waitForClient(),
    });
    return this.services.openClientWorkspace(facts, { sessionId: this.id, user: this.user, channel });
  }

  #waitForClient(): void {
    const turnId = this.runningTurnId;
    if (turnId === undefined) return;
    this.writer.emit({ type: "status", state: "waiting-for-client", iteration: 0 }, { turnId });
  }
}

async function openWorkspaceAgain(services: SessionServices, head: SessionHead): Promise<Workspace> {
  try {
    const workspace = await services.openWorkspace(head.workspaceRoot);
    // The path may have become a link.
    services.userWorkspaces?.assertOwn(head.user, workspace.root);
    return workspace;
  } catch (cause) {
    if (!(cause instanceof WorkspaceError)) throw cause;
    throw new ServiceError(
      "failed_precondition",
      `The session's workspace cannot be opened any more: ${cause.message}`,
      { cause },
    );
  }
}

/** Outputs that the log has only as blobs: kept in memory until the model got them, to avoid reading the disk. */
export class LargeOutputs {
  readonly #blobs: BlobStore;
  readonly #texts = new Map<string, Uint8Array>();

  constructor(blobs: BlobStore) {
    this.#blobs = blobs;
  }

  keep(sha256: string, text: string): void {
    this.#texts.set(sha256, new TextEncoder().encode(text));
  }

  /** Fills in the contents that the conversation has only by digest. */
  async fill(conversation: Conversation): Promise<void> {
    await conversation.fill(async (sha256) => this.#texts.get(sha256) ?? (await this.#blobs.get(sha256)));
  }

  forget(): void {
    this.#texts.clear();
  }
}
