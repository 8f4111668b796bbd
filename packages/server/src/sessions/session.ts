import { randomUUID } from "node:crypto";
import type { Conversation } from "@gennai/agent/conversation";
import type { FileChangeRecord, ProposalReview } from "@gennai/agent/proposal";
import type { Compacted, SessionEvent } from "@gennai/agent/session-event";
import type { SessionSettings } from "@gennai/agent/session-settings";
import type { Todo } from "@gennai/agent/todo";
import type { TurnEnd } from "@gennai/agent/turn-loop";
import type { ClientWorkspaceFacts } from "@gennai/agent/workspace-operation";
import { RememberedAnswers } from "@gennai/governance/gate/remembered-answers";
import type { Intent } from "@gennai/governance/intents/intent";
import type { LedgerEntry } from "@gennai/governance/ledger/ledger-entry";
import { ToolFailure } from "@gennai/governance/tool-error";
import { answersRequest, type ClientAnswer } from "../bridge/client-answer.ts";
import { ClientRegistry } from "../bridge/client-registry.ts";
import { PendingRequests } from "../bridge/pending-requests.ts";
import { SessionWorkspaceChannel } from "../bridge/workspace-channel.ts";
import type { OpenRestore } from "../checkpoints/work-steps.ts";
import { ServiceError } from "../service-error.ts";
import { knownHead } from "../workspace/known-head.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { WorkspaceError } from "../workspace/workspace-error.ts";
import { OwnedLog } from "./log/owned-log.ts";
import type { SessionHead } from "./log/session-log.ts";
import type { SessionWriter } from "./log/session-writer.ts";
import { refuseInEmergency } from "./refuse-in-emergency.ts";
import { type AppliedReport, checkReview, redactedReview, verifyApplied } from "./review/proposal-review.ts";
import { SeenContents } from "./seen-contents.ts";
import type { SessionServices } from "./session-services.ts";
import { SessionState } from "./session-state.ts";
import { type CompactionReport, prepareCompaction } from "./turn/compaction-turn.ts";
import { endEvents } from "./turn/end-events.ts";
import { type PreparedTurn, prepareTurn, type TurnInput } from "./turn/prepare-turn.ts";
import { undoChangeSet } from "./undo.ts";

/** Starts of turns that wait for the one before. */
const maxWaitingStarts = 16;

export interface StartedTurn {
  readonly turnId: string;
  /** Subscribe after this to see the whole turn. */
  readonly afterSeq: number;
  readonly alreadyStarted: boolean;
}

/** Builds a turn that is about to start. It may still refuse: what it throws reaches whoever starts it. */
export type TurnPreparation = (turnId: string, signal: AbortSignal) => Promise<PreparedTurn>;

interface RunningTurn {
  readonly turnId: string;
  readonly abort: AbortController;
  /** Never rejects. */
  readonly ended: Promise<void>;
}

/** One session: its log, what folds out of it, and the turn it runs. The session owns the turn, no stream does. */
export class Session {
  readonly id: string;
  /** Whose it is; empty on a server with one user. */
  readonly user: string;
  readonly workspace: Workspace;
  readonly clients = new ClientRegistry();
  readonly requests: PendingRequests;
  readonly remembered = new RememberedAnswers();
  readonly seen: SeenContents;
  readonly state: SessionState;
  readonly services: SessionServices;
  /** What must be done before the running turn ends. Never rejects. */
  beforeTurnEnds: Promise<unknown> = Promise.resolve();
  readonly #log: OwnedLog;
  #running: RunningTurn | undefined;
  /** One start at a time, so that two clients cannot both find the session idle. */
  #starting: Promise<unknown> = Promise.resolve();
  #waitingStarts = 0;
  readonly #texts = new Map<string, Uint8Array>();

  private constructor(
    services: SessionServices,
    workspace: Workspace | ClientWorkspaceFacts,
    head: SessionHead,
    state: SessionState,
  ) {
    this.services = services;
    this.seen = new SeenContents(services.blobs, services.redactor);
    this.id = head.sessionId;
    this.user = head.user;
    this.state = state;
    this.#log = new OwnedLog(services, head, state);
    this.requests = new PendingRequests({
      clients: this.clients,
      log: () => this.#log.writer,
      timing: services.confirmation,
      now: services.now,
      redactor: services.redactor,
      observer: services.observer,
    });
    this.workspace =
      "resolve" in workspace
        ? workspace
        : services.openClientWorkspace(workspace, {
            ...{ sessionId: this.id, user: this.user },
            channel: new SessionWorkspaceChannel({
              ...{ clients: this.clients, requests: this.requests },
              turnId: () => this.#running?.turnId ?? "",
              waitForClientMs: services.confirmation.waitForClientMs,
              catchUp: () => this.catchUp(),
              onWaiting: () => this.#waitForClient(),
            }),
          });
  }

  /**
   * Opens a session of the log: folds its events, and ends a turn whose process is gone.
   * @param clientWorkspace of a session that is just begun, when a client holds its files
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

  /** True when nothing runs, nobody listens, and nothing was written for so long: the session can be closed and opened again. */
  isIdleFor(milliseconds: number): boolean {
    const busy = this.#running !== undefined || this.clients.isAttached;
    return !busy && this.services.now() - this.#log.lastWritten > milliseconds;
  }

  get runningTurnId(): string | undefined {
    return this.#running?.turnId;
  }

  /** Starts a turn, once for each `clientTurnId`. Resolves when its start is durable. */
  async startTurn(input: TurnInput): Promise<StartedTurn> {
    return this.#inTurn(() => this.#startTurn(input));
  }

  /**
   * Starts a turn that asks no model, e.g. the run of a plan: one at a time, stopped and recovered like any other.
   * `ended` never rejects.
   */
  async startPrepared(prepare: TurnPreparation): Promise<{ readonly turnId: string; readonly ended: Promise<void> }> {
    const { turnId, ended } = await this.#inTurn(() => this.#start(prepare));
    return { turnId, ended };
  }

  /** One after the other; a few may wait. */
  async #inTurn<Result>(start: () => Promise<Result>): Promise<Result> {
    if (this.#waitingStarts >= maxWaitingStarts) {
      throw new ServiceError("resource_exhausted", "Too many turns wait for their start in this session.", {
        reason: "too_many_starts",
        retryAfterMs: 1_000,
      });
    }
    this.#waitingStarts += 1;
    const attempt = this.#starting.then(start).finally(() => {
      this.#waitingStarts -= 1;
    });
    this.#starting = attempt.catch(() => undefined);
    return attempt;
  }

  async #startTurn(input: TurnInput): Promise<StartedTurn> {
    const known = this.state.turnByClientId.get(input.clientTurnId);
    if (known !== undefined) return { turnId: known.turnId, afterSeq: known.afterSeq, alreadyStarted: true };
    return this.#start((turnId, signal) => prepareTurn(this, { ...input, turnId }, signal));
  }

  async #start(prepare: TurnPreparation): Promise<StartedTurn & { readonly ended: Promise<void> }> {
    if (this.#running !== undefined) {
      throw new ServiceError("failed_precondition", "A turn is running in this session.", {
        hint: "Wait for its end, or end it with CancelTurn.",
      });
    }
    const seat = this.services.admission.turn(this.user);
    const abort = new AbortController();
    const turnId = randomUUID();
    try {
      await this.#log.acquire();
      await this.#takeOver();
      const turn = await prepare(turnId, abort.signal);
      const hadTitle = this.state.title !== "";
      await this.#log.writer.commit(turn.openingEvents, { turnId, ...turn.openingRecords, durable: true });
      if (!hadTitle && this.state.title !== "") await this.services.log.setTitle(this.id, this.state.title);
      const ended = this.#runToEnd(turn.run, turnId, abort.signal).finally(() => {
        turn[Symbol.dispose]();
        this.#log.release();
        this.#running = undefined;
        seat[Symbol.dispose]();
      });
      this.#running = { turnId, abort, ended };
      // Other events may have come in meanwhile: the log says where the turn begins.
      const afterSeq = this.state.turns.get(turnId)?.afterSeq ?? this.#log.writer.lastSeq;
      return { turnId, afterSeq, alreadyStarted: false, ended };
    } catch (error) {
      this.#log.release();
      seat[Symbol.dispose]();
      throw error;
    }
  }

  async #runToEnd(run: () => Promise<TurnEnd>, turnId: string, signal: AbortSignal): Promise<void> {
    let end: TurnEnd;
    try {
      end = await this.services.observer.turn({ sessionId: this.id, turnId, settings: this.settings }, run);
    } catch (error) {
      end = signal.aborted ? { type: "cancelled" } : this.#failed(error);
    }
    await this.beforeTurnEnds;
    await this.seen.store();
    // If even this cannot be written, the next server that opens the session finds the turn interrupted.
    await this.#log.writer
      .commit(await endEvents(end, signal, this.services.redactor), { turnId, durable: true })
      .catch(() => undefined);
  }

  /** Ends the running turn; resolves when it has ended. Undefined when none ran, or another one than asked for. */
  async cancel(reason: string, turnId?: string): Promise<string | undefined> {
    // A turn that is about to start would otherwise escape.
    await this.#starting;
    const running = this.#running;
    if (running === undefined || (turnId !== undefined && turnId !== running.turnId)) return undefined;
    running.abort.abort(new DOMException(reason === "" ? "Stopped by the user." : reason, "AbortError"));
    await running.ended;
    return running.turnId;
  }

  /** Takes a client's answer to a request of this session. */
  async answer(requestId: string, answer: ClientAnswer, clientId: string, epoch: number): Promise<void> {
    const request = this.requests.get(requestId);
    if (request === undefined) {
      const resolution = this.state.resolvedRequests.get(requestId);
      if (resolution === "answered") {
        throw new ServiceError("already_exists", "This request was answered already; the first answer stands.");
      }
      if (resolution !== undefined || this.state.openRequests.has(requestId)) {
        throw new ServiceError("failed_precondition", "This request is over; the answer came too late.");
      }
      throw new ServiceError("not_found", "This session has no such request.");
    }
    if (epoch !== 0 && epoch !== request.ownerEpoch) {
      throw new ServiceError("failed_precondition", "This request belongs to an earlier owner of the session.");
    }
    if (request.kind === "workspace" && request.clientId !== clientId) {
      throw new ServiceError("permission_denied", "This request is for another client, which holds the files.");
    }
    if (!answersRequest(request, answer)) {
      throw new ServiceError(
        "invalid_argument",
        "The answer is not one to this request: another kind, or another path.",
      );
    }
    await this.requests.answer(requestId, answer, clientId, this.services.callers.current()?.user);
  }

  async review(review: ProposalReview): Promise<void> {
    const checked = checkReview(this.state, review);
    const redacted = await redactedReview(checked, this.services.redactor);
    await this.#commitByUser([{ type: "proposal-review", review: redacted }], "review", { review: redacted }, []);
  }

  /** Records what a client wrote after a review. The server looks at the disk itself before it believes it. */
  async applied(report: AppliedReport): Promise<void> {
    const files = await verifyApplied(this.state, report, this.workspace);
    const { proposalId } = report;
    await this.#commitByUser(
      [{ type: "change-set-applied", changeSetId: `proposal-${proposalId}`, files, proposalId }],
      "applied",
      { proposalId },
      files,
    );
  }

  /** Takes back a change set; the newest when none is named. */
  async undo(
    changeSetId?: string,
  ): Promise<{ readonly changeSetId: string; readonly files: readonly FileChangeRecord[] }> {
    this.#refuseWhileRunning("undo");
    refuseInEmergency(this, "Nothing was taken back", { name: "UndoChangeSet", statement: "Take a change set back" });
    const undone = await undoChangeSet(this.state, this.workspace, this.services.blobs, changeSetId);
    await this.#commitByUser(
      [{ type: "change-set-undone", ...undone }],
      "undo",
      { changeSetId: undone.changeSetId },
      undone.files,
    );
    return undone;
  }

  /** Records what a person decided: events and a ledger record in one transaction. */
  async decided(
    events: readonly SessionEvent[],
    kind: LedgerEntry["kind"],
    details: Readonly<Record<string, unknown>>,
    files: readonly FileChangeRecord[] = [],
  ): Promise<void> {
    await this.#commitByUser(events, kind, details, files);
  }

  /** Records what a restore is about to write, durably. */
  async announceRestore(restore: OpenRestore): Promise<void> {
    await this.#takeOver();
    await this.#log.writer.commit([{ type: "checkpoint-restoring", ...restore }], { turnId: "", durable: true });
  }

  /** Folds in what another server wrote to the session since, which stays that server's. */
  async follow(): Promise<void> {
    if (this.#running === undefined) await this.#log.follow();
  }

  /** Folds in what another process wrote to the session since. */
  async catchUp(): Promise<void> {
    await this.#takeOver();
  }

  async writeTodos(items: readonly Todo[]): Promise<void> {
    await this.#takeOver();
    await this.#log.writer.commit([{ type: "todos-changed", items }], { turnId: "", durable: true });
  }

  /** A person's choice of the intent the session works under. */
  async selectIntent(intent: Intent, context: string): Promise<void> {
    await this.#commitByUser([{ type: "intent-selected", intent, context }], "session", { intent: intent.id }, []);
  }

  async changeSettings(settings: SessionSettings): Promise<void> {
    this.#refuseWhileRunning("change the settings");
    await this.#takeOver();
    await this.#log.writer.commit([{ type: "settings-changed", settings }], { turnId: "", durable: true });
  }

  async clear(): Promise<void> {
    this.#refuseWhileRunning("clear the session");
    await this.#takeOver();
    this.remembered.forget();
    this.seen.clear();
    await this.#log.writer.commit([{ type: "session-cleared" }], { turnId: "", durable: true });
  }

  /** A title of the user's choice, in place of the one made from the first request. */
  async rename(title: string): Promise<void> {
    await this.#takeOver();
    const masked = await this.services.redactor.redact(title);
    await this.#log.writer.commit([{ type: "session-renamed", title: masked }], { turnId: "", durable: true });
    await this.services.log.setTitle(this.id, masked);
  }

  /**
   * Makes the conversation shorter, because the user asked for it: a turn of its own, so that it is stopped like any other.
   * Undefined when there was nothing to shorten.
   */
  async compact(): Promise<Compacted | undefined> {
    const result: CompactionReport = {};
    const { ended } = await this.startPrepared((turnId, signal) => prepareCompaction(this, turnId, signal, result));
    await ended;
    if (result.failure !== undefined) throw result.failure;
    return result.compacted;
  }

  /** Adds an event about more than this session. Rejects while another server runs a turn of it: that one adds its own. */
  async announce(event: SessionEvent): Promise<void> {
    // What was agreed to before somebody pulled the brake is asked again.
    if (event.type === "emergency-changed") this.remembered.forget();
    await this.#takeOver();
    await this.#log.writer.commit([event], { turnId: "", durable: true });
  }

  /** A fork taken in the middle of a turn has that turn's beginning, and will never have its end. */
  async endCopiedTurn(): Promise<void> {
    await this.#log.closeInterrupted();
  }

  /** For large outputs: the model reads them without another look at the disk. */
  keepText(sha256: string, text: string): void {
    this.#texts.set(sha256, new TextEncoder().encode(text));
  }

  /** @param conversation the session's own, or that of a sub-agent */
  async fillConversation(conversation: Conversation = this.state.conversation): Promise<void> {
    await conversation.fill(async (sha256) => this.#texts.get(sha256) ?? (await this.services.blobs.get(sha256)));
    // What sub-agents read goes on being a blob for them.
    if (conversation === this.state.conversation) this.#texts.clear();
  }

  /** What another process wrote since is folded in. While a turn runs, the log is ours already. */
  async #takeOver(): Promise<void> {
    if (this.#running === undefined) await this.#log.takeOverIfBehind();
  }

  /** How a turn ends that nobody ended: what steers the agent may be out of reach, anything else is a mistake of ours. */
  #failed(error: unknown): TurnEnd {
    if (error instanceof ToolFailure) {
      const { code, message, hint, retryable } = error;
      return { type: "failed", code, message, retryable, ...(hint === undefined ? {} : { hint }) };
    }
    this.services.onUnexpectedError(error);
    return {
      type: "failed",
      code: "internal",
      message: "The turn failed unexpectedly; the server's log says why.",
      retryable: false,
    };
  }

  #waitForClient(): void {
    const turnId = this.#running?.turnId;
    if (turnId === undefined) return;
    this.#log.writer.emit({ type: "status", state: "waiting-for-client", iteration: 0 }, { turnId });
  }

  #refuseWhileRunning(what: string): void {
    if (this.#running === undefined) return;
    throw new ServiceError("failed_precondition", `A turn is running; it must end before you ${what}.`);
  }

  async #commitByUser(
    events: readonly SessionEvent[],
    kind: LedgerEntry["kind"],
    details: Readonly<Record<string, unknown>>,
    files: readonly FileChangeRecord[],
  ): Promise<void> {
    await this.#takeOver();
    const head = knownHead(this.workspace);
    const entry: LedgerEntry = {
      kind,
      time: this.services.now(),
      sessionId: this.id,
      turnId: "",
      modelId: "",
      revision: (head.type === "none" ? undefined : head.commit) ?? "",
      calls: [],
      files: files.map(({ path, operation, beforeSha256, afterSha256 }) => ({
        path,
        operation,
        beforeSha256,
        afterSha256,
        blocks: [],
      })),
      details,
    };
    await this.#log.writer.commit(events, { turnId: "", ledger: [entry], durable: true });
  }
}

async function openWorkspaceAgain(services: SessionServices, head: SessionHead): Promise<Workspace> {
  try {
    const workspace = await services.openWorkspace(head.workspaceRoot);
    // A link may stand there by now.
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
