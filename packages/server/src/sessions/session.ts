import { randomUUID } from "node:crypto";
import type { FileChangeRecord, ProposalReview } from "@gennai/agent/proposal";
import type { LoggedEvent, SessionEvent } from "@gennai/agent/session-event";
import type { SessionSettings } from "@gennai/agent/session-settings";
import type { Todo } from "@gennai/agent/todo";
import type { TurnEnd } from "@gennai/agent/turn-loop";
import { RememberedAnswers } from "@gennai/governance/gate/remembered-answers";
import type { Intent } from "@gennai/governance/intents/intent";
import type { LedgerEntry } from "@gennai/governance/ledger/ledger-entry";
import { answersRequest, type ClientAnswer } from "../bridge/client-answer.ts";
import { ClientRegistry } from "../bridge/client-registry.ts";
import { PendingRequests } from "../bridge/pending-requests.ts";
import { ServiceError } from "../service-error.ts";
import { readGitHead } from "../workspace/git-head.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { WorkspaceError } from "../workspace/workspace-error.ts";
import { closeInterruptedTurn } from "./interrupted-turn.ts";
import { type AppliedReport, checkReview, redactedReview, verifyApplied } from "./proposal-review.ts";
import type { SessionHead } from "./session-log.ts";
import type { SessionServices } from "./session-services.ts";
import { SessionState } from "./session-state.ts";
import { SessionWriter } from "./session-writer.ts";
import { type PreparedTurn, prepareTurn, type TurnInput } from "./turn.ts";
import { undoChangeSet } from "./undo.ts";

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
  readonly workspace: Workspace;
  readonly clients = new ClientRegistry();
  readonly requests: PendingRequests;
  readonly remembered = new RememberedAnswers();
  readonly state: SessionState;
  readonly services: SessionServices;
  #writer: SessionWriter;
  #running: RunningTurn | undefined;
  /** Held from before a turn starts until after it ended: no other process runs one meanwhile. */
  #ownership: Disposable | undefined;
  /** One start at a time, so that two clients cannot both find the session idle. */
  #starting: Promise<unknown> = Promise.resolve();
  /** Milliseconds since the epoch. */
  #lastWritten: number;
  readonly #texts = new Map<string, Uint8Array>();

  private constructor(services: SessionServices, workspace: Workspace, head: SessionHead, state: SessionState) {
    this.services = services;
    this.#lastWritten = services.now();
    this.workspace = workspace;
    this.id = head.sessionId;
    this.state = state;
    this.#writer = this.#newWriter(head.epoch);
    this.requests = new PendingRequests({
      clients: this.clients,
      log: () => this.#writer,
      timing: services.confirmation,
      now: services.now,
    });
  }

  /** Opens a session of the log: folds its events, and ends a turn whose process is gone. */
  static async open(services: SessionServices, head: SessionHead): Promise<Session> {
    const workspace = await openWorkspaceAgain(services, head.workspaceRoot);
    const state = new SessionState();
    for (;;) {
      const page = await services.log.read(head.sessionId, state.lastSeq, 1000);
      for (const event of page) state.apply(event);
      if (page.length < 1000) break;
    }
    const session = new Session(services, workspace, { ...head, lastSeq: state.lastSeq }, state);
    await session.#recover();
    return session;
  }

  get settings(): SessionSettings {
    return this.state.settings ?? this.services.defaultSettings;
  }

  get writer(): SessionWriter {
    return this.#writer;
  }

  /** True when nothing runs, nobody listens, and nothing was written for so long: the session can be closed and opened again. */
  isIdleFor(milliseconds: number): boolean {
    const busy = this.#running !== undefined || this.clients.isAttached;
    return !busy && this.services.now() - this.#lastWritten > milliseconds;
  }

  get runningTurnId(): string | undefined {
    return this.#running?.turnId;
  }

  /** Starts a turn, once for each `clientTurnId`. Resolves when its start is durable. */
  async startTurn(input: TurnInput): Promise<StartedTurn> {
    const attempt = this.#starting.then(() => this.#startTurn(input));
    this.#starting = attempt.catch(() => undefined);
    return attempt;
  }

  /**
   * Starts a turn that asks no model, e.g. the run of a plan: one at a time, stopped and recovered like any other.
   * `ended` never rejects.
   */
  async startPrepared(prepare: TurnPreparation): Promise<{ readonly turnId: string; readonly ended: Promise<void> }> {
    const attempt = this.#starting.then(() => this.#start(prepare));
    this.#starting = attempt.catch(() => undefined);
    const { turnId, ended } = await attempt;
    return { turnId, ended };
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
    const attempt = this.services.locks.tryAcquire(`session ${this.id}`, "runs a turn");
    if (attempt.type === "held") {
      throw new ServiceError(
        "failed_precondition",
        `Another server (process ${attempt.pid}) runs a turn of this session.`,
        {
          hint: "Subscribe to follow it, or stop that server.",
        },
      );
    }
    this.#ownership = attempt.lock;
    const abort = new AbortController();
    const turnId = randomUUID();
    try {
      await this.#takeOverIfBehind();
      const turn = await prepare(turnId, abort.signal);
      const hadTitle = this.state.title !== "";
      await this.#writer.commit(turn.openingEvents, { turnId, ...turn.openingRecords, durable: true });
      if (!hadTitle && this.state.title !== "") await this.services.log.setTitle(this.id, this.state.title);
      const ended = this.#runToEnd(turn.run, turnId, abort.signal).finally(() => {
        turn[Symbol.dispose]();
        this.#release();
        this.#running = undefined;
      });
      this.#running = { turnId, abort, ended };
      // Other events may have come in meanwhile: the log says where the turn begins.
      const afterSeq = this.state.turns.get(turnId)?.afterSeq ?? this.#writer.lastSeq;
      return { turnId, afterSeq, alreadyStarted: false, ended };
    } catch (error) {
      this.#release();
      throw error;
    }
  }

  #release(): void {
    this.#ownership?.[Symbol.dispose]();
    this.#ownership = undefined;
  }

  async #runToEnd(run: () => Promise<TurnEnd>, turnId: string, signal: AbortSignal): Promise<void> {
    let end: TurnEnd;
    try {
      end = await run();
    } catch (error) {
      if (!signal.aborted) this.services.onUnexpectedError(error);
      end = signal.aborted
        ? { type: "cancelled" }
        : {
            type: "failed",
            code: "internal",
            message: "The turn failed unexpectedly; the server's log says why.",
            retryable: false,
          };
    }
    // If even this cannot be written, the next server that opens the session finds the turn interrupted.
    await this.#writer.commit(endEvents(end, signal), { turnId, durable: true }).catch(() => undefined);
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
    if (!answersRequest(request, answer)) {
      throw new ServiceError(
        "invalid_argument",
        "The answer is not one to this request: another kind, or another path.",
      );
    }
    await this.requests.answer(requestId, answer, clientId);
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
  ): Promise<void> {
    await this.#commitByUser(events, kind, details, []);
  }

  async writeTodos(items: readonly Todo[]): Promise<void> {
    await this.#takeOverIfBehind();
    await this.#writer.commit([{ type: "todos-changed", items }], { turnId: "", durable: true });
  }

  /** A person's choice of the intent the session works under. */
  async selectIntent(intent: Intent, context: string): Promise<void> {
    await this.#commitByUser([{ type: "intent-selected", intent, context }], "session", { intent: intent.id }, []);
  }

  async changeSettings(settings: SessionSettings): Promise<void> {
    this.#refuseWhileRunning("change the settings");
    await this.#takeOverIfBehind();
    await this.#writer.commit([{ type: "settings-changed", settings }], { turnId: "", durable: true });
  }

  async clear(): Promise<void> {
    this.#refuseWhileRunning("clear the session");
    await this.#takeOverIfBehind();
    this.remembered.forget();
    await this.#writer.commit([{ type: "session-cleared" }], { turnId: "", durable: true });
  }

  /** Adds an event about more than this session. Rejects while another server runs a turn of it: that one adds its own. */
  async announce(event: SessionEvent): Promise<void> {
    await this.#takeOverIfBehind();
    await this.#writer.commit([event], { turnId: "", durable: true });
  }

  /** A fork taken in the middle of a turn has that turn's beginning, and will never have its end. */
  async endCopiedTurn(): Promise<void> {
    await closeInterruptedTurn(this.state, this.#writer, { sessionId: this.id, now: this.services.now });
  }

  /** For large outputs: the model reads them without another look at the disk. */
  keepText(sha256: string, text: string): void {
    this.#texts.set(sha256, new TextEncoder().encode(text));
  }

  async fillConversation(): Promise<void> {
    await this.state.conversation.fill(
      async (sha256) => this.#texts.get(sha256) ?? (await this.services.blobs.get(sha256)),
    );
    this.#texts.clear();
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
    await this.#takeOverIfBehind();
    const head = readGitHead(this.workspace.root);
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
    await this.#writer.commit(events, { turnId: "", ledger: [entry], durable: true });
  }

  /**
   * Another process may have written to the session since: then its events are folded in and the session is ours again.
   * A turn that another process runs is never taken away from it.
   */
  async #takeOverIfBehind(): Promise<void> {
    if (this.#running !== undefined) return;
    const holder = this.#ownership === undefined ? this.services.locks.holder(`session ${this.id}`) : undefined;
    if (holder !== undefined) {
      throw new ServiceError(
        "failed_precondition",
        `Another server (process ${holder.pid}) runs a turn of this session.`,
        {
          hint: "Wait for its end, or stop that server.",
        },
      );
    }
    const head = await this.services.log.head(this.id);
    if (head === undefined) throw new ServiceError("not_found", "The session is no longer in the log.");
    if (head.lastSeq === this.#writer.lastSeq && head.epoch === this.#writer.epoch && !this.#writer.failed) return;
    while (this.state.lastSeq < head.lastSeq) {
      const page = await this.services.log.read(this.id, this.state.lastSeq, 1000);
      if (page.length === 0) break;
      for (const event of page) this.state.apply(event);
    }
    this.#writer = this.#newWriter(await this.services.log.takeOver(this.id));
    // Whoever wrote the beginning of such a turn is gone, or could not write its end.
    await closeInterruptedTurn(this.state, this.#writer, { sessionId: this.id, now: this.services.now });
  }

  #newWriter(epoch: number): SessionWriter {
    return new SessionWriter({
      log: this.services.log,
      sessionId: this.id,
      seq: this.state.lastSeq,
      epoch,
      now: this.services.now,
      onAppended: (events: readonly LoggedEvent[]) => {
        this.#lastWritten = this.services.now();
        for (const event of events) this.state.apply(event);
      },
    });
  }

  async #recover(): Promise<void> {
    if (this.state.openTurn === undefined || this.services.locks.holder(`session ${this.id}`) !== undefined) return;
    this.#writer = this.#newWriter(await this.services.log.takeOver(this.id));
    await closeInterruptedTurn(this.state, this.#writer, { sessionId: this.id, now: this.services.now });
  }
}

async function openWorkspaceAgain(services: SessionServices, root: string): Promise<Workspace> {
  try {
    return await services.openWorkspace(root);
  } catch (cause) {
    if (!(cause instanceof WorkspaceError)) throw cause;
    throw new ServiceError(
      "failed_precondition",
      `The session's workspace cannot be opened any more: ${cause.message}`,
      { cause },
    );
  }
}

function endEvents(end: TurnEnd, signal: AbortSignal): readonly SessionEvent[] {
  switch (end.type) {
    case "completed":
      return [{ type: "status", state: "completed", iteration: 0 }];
    case "cancelled":
      return [
        { type: "warning", text: stopReason(signal) },
        { type: "status", state: "cancelled", iteration: 0 },
      ];
    case "failed": {
      const { code, message, hint, retryable } = end;
      return [
        { type: "error", code, message, ...(hint === undefined ? {} : { hint }), retryable },
        { type: "status", state: "error", iteration: 0 },
      ];
    }
  }
}

/** Why the turn was stopped, in the words of who stopped it. */
function stopReason(signal: AbortSignal): string {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason.message : "Stopped.";
}
