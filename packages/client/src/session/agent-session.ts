import { Code, ConnectError } from "@connectrpc/connect";
import { StopScope } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { type SkippedFile, skippedFileFromMessage } from "@gennai/protocol/model/session/checkpoint";
import type { AnswerInit } from "@gennai/protocol/model/session/editor-messages";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";
import {
  type AppliedFile,
  appliedFileFromMessage,
  appliedFileToMessage,
} from "@gennai/protocol/model/session/proposal";
import {
  type ReportedSettings,
  type SettingsChoice,
  settingsFromMessage,
  settingsToMessage,
} from "@gennai/protocol/model/session/session-settings";
import type { ClientIdentity } from "../connection/client-identity.ts";
import type { AgentClient, CallOptions } from "../connection/connection.ts";
import { retryingCall } from "../connection/retrying-call.ts";
import { Bridge } from "../host/bridge.ts";
import { workspaceFactsFields } from "../host/client-workspace-answer.ts";
import { type Review, reviewedHunkFields } from "../review/review.ts";
import type { FollowOptions } from "./follow-options.ts";
import { type RunTurnOptions, runTurn } from "./run-turn.ts";
import { subscribe } from "./subscription.ts";
import { startTurnFields, type Turn, type TurnRequest } from "./turn.ts";
import { type AttachedOptions, whileAttached } from "./while-attached.ts";

/** A session of the server, as this client sees it. Holds nothing open by itself: `follow` does while it is iterated. */
export class AgentSession {
  readonly client: AgentClient;
  readonly identity: ClientIdentity;
  readonly sessionId: string;
  /** The workspace as the server resolved it. */
  readonly workingDir: string;
  readonly settings: ReportedSettings;
  /** The last turn, where it was cut off and `startTurn` can go on with it, as the server said when the session was resumed. */
  readonly cutOffTurn: CutOffTurn | undefined;
  #lastSeq: bigint;

  private constructor(
    client: AgentClient,
    identity: ClientIdentity,
    facts: Pick<AgentSession, "sessionId" | "workingDir" | "settings" | "lastSeq" | "cutOffTurn">,
  ) {
    this.client = client;
    this.identity = identity;
    this.sessionId = facts.sessionId;
    this.workingDir = facts.workingDir;
    this.settings = facts.settings;
    this.cutOffTurn = facts.cutOffTurn;
    this.#lastSeq = facts.lastSeq;
  }

  get #facts() {
    const { sessionId, workingDir, settings, cutOffTurn, lastSeq } = this;
    return { sessionId, workingDir, settings, cutOffTurn, lastSeq };
  }

  /** Newest seq known here: follow after it to see only what comes. */
  get lastSeq(): bigint {
    return this.#lastSeq;
  }

  /**
   * If the identity's editor holds a workspace, the session uses it: then `choice` has no working directory.
   * @param options.interactive true if a user can answer the server's requests
   */
  static async start(
    client: AgentClient,
    identity: ClientIdentity,
    choice: SettingsChoice,
    options: CallOptions & { readonly interactive: boolean },
  ): Promise<AgentSession> {
    const { interactive, signal } = options;
    const held = identity.editor?.workspace;
    const response = await client.startSession(
      {
        settings: settingsToMessage(choice),
        interactive,
        ...(held === undefined ? {} : { clientWorkspace: workspaceFactsFields(held.facts) }),
      },
      { signal },
    );
    return new AgentSession(client, identity, {
      sessionId: response.sessionId,
      workingDir: response.workingDir,
      settings: settingsFromMessage(response.settings),
      lastSeq: 0n,
      cutOffTurn: undefined,
    });
  }

  /**
   * Goes on with a session, or begins one.
   * @param options.resume its id; undefined: a new one begins
   * @param options.settings of a new one; what they name besides the directory is changed in one that is gone on with
   */
  static async open(
    client: AgentClient,
    identity: ClientIdentity,
    options: CallOptions & {
      readonly resume: string | undefined;
      readonly settings: SettingsChoice;
      readonly interactive: boolean;
    },
  ): Promise<AgentSession> {
    const { resume, settings } = options;
    if (resume === undefined) return AgentSession.start(client, identity, settings, options);
    const session = await AgentSession.resume(client, identity, resume, options);
    const { workingDir: _fixed, ...choice } = settings;
    if (Object.keys(choice).length === 0) return session;
    return new AgentSession(client, identity, {
      ...session.#facts,
      settings: await session.changeSettings(choice, options),
    });
  }

  static async resume(
    client: AgentClient,
    identity: ClientIdentity,
    sessionId: string,
    options: CallOptions,
  ): Promise<AgentSession> {
    const response = await client.resumeSession({ sessionId }, { signal: options.signal });
    const settings = settingsFromMessage(response.settings);
    return new AgentSession(client, identity, {
      sessionId,
      workingDir: response.session?.workingDir || settings.workingDir,
      settings,
      lastSeq: response.session?.lastSeq ?? 0n,
      cutOffTurn: response.cutOffTurn,
    });
  }

  /** Starts a turn, once however often the way to the server breaks: every try carries the same id. */
  async startTurn(request: TurnRequest, options: CallOptions): Promise<Turn> {
    const message = startTurnFields(this.sessionId, request);
    const { signal } = options;
    const response = await retryingCall(() => this.client.startTurn(message, { signal }), { signal, attempts: 6 });
    return { turnId: response.turnId, afterSeq: response.afterSeq };
  }

  /**
   * Says something to the running turn; resolves when the server has it for good. The same id is the same message, however often
   * the way breaks. Rejects with `failed_precondition` when no turn takes it, `unimplemented` from an older server.
   */
  async queueMessage(
    message: { readonly messageId: string; readonly text: string; readonly images: readonly Uint8Array[] },
    { signal }: CallOptions,
  ): Promise<void> {
    const request = { sessionId: this.sessionId, ...message, images: [...message.images] };
    await retryingCall(() => this.client.queueMessage(request, { signal }), { signal, attempts: 6 });
  }

  /**
   * The events of the session, each once; the identity's editor answers requests among them. Throws like `subscribe`. Leaving
   * the loop cancels no turn.
   */
  async *follow(options: FollowOptions): AsyncGenerator<InvokeEvent, void> {
    const { onProblem, ...subscription } = options;
    const { client, sessionId, identity } = this;
    await using bridge =
      identity.editor === undefined
        ? undefined
        : new Bridge({
            client,
            sessionId,
            clientId: identity.clientId,
            editor: identity.editor,
            ...(onProblem === undefined ? {} : { onProblem }),
          });
    for await (const event of subscribe(client, { ...subscription, sessionId, identity })) {
      bridge?.handle(event);
      if (event.seq > this.#lastSeq) this.#lastSeq = event.seq;
      yield event;
    }
  }

  /** All that happened so far, for one who only looks: nothing among it is answered here. */
  async *history({ signal }: CallOptions): AsyncGenerator<InvokeEvent, void> {
    const { client, sessionId, identity } = this;
    const lastSeq = (await client.resumeSession({ sessionId }, { signal })).session?.lastSeq ?? 0n;
    if (lastSeq === 0n) return;
    const { name, version } = identity;
    const watcher = { clientId: `${identity.clientId}-history`, name, version };
    for await (const event of subscribe(client, {
      sessionId,
      identity: watcher,
      afterSeq: 0n,
      signal,
      maxAttempts: 6,
    })) {
      yield event;
      const { event: body, seq } = event;
      if ((body.case === "truncated" ? body.value.throughSeq : seq) >= lastSeq) return;
    }
  }

  /**
   * Runs a turn and gives its events. It attaches first, so that the agent finds this client's abilities from the start.
   * Throws as `startTurn` and `subscribe` do. Leaving the loop cancels no turn.
   */
  runTurn(request: TurnRequest, options: RunTurnOptions): AsyncGenerator<InvokeEvent, void> {
    return runTurn(this, request, options);
  }

  /**
   * Does something while this client is attached, so that its editor answers the server's requests. Not needed for a turn,
   * which attaches by itself. Rejects like `work`, and with the stream's error if that ends first and nobody hears it.
   */
  whileAttached<Value>(work: () => Promise<Value>, options: AttachedOptions): Promise<Value> {
    return whileAttached(this, work, options);
  }

  /** Ends a turn; resolves when it has ended. False when nothing was running. */
  async cancelTurn(turnId: string, reason: string, options: CallOptions): Promise<boolean> {
    const request = { sessionId: this.sessionId, turnId, reason };
    const { signal } = options;
    const response = await retryingCall(() => this.client.cancelTurn(request, { signal }), { signal, attempts: 3 });
    return response.wasRunning;
  }

  /** Stops one call of a turn, which continues; resolves when the call has ended. False if it was not running. */
  async stopToolCall(
    call: { readonly turnId: string; readonly callId: string },
    { signal }: CallOptions,
  ): Promise<boolean> {
    const request = { sessionId: this.sessionId, turnId: call.turnId, toolCallId: call.callId };
    const response = await retryingCall(() => this.client.stopToolCall(request, { signal }), { signal, attempts: 3 });
    return response.wasRunning;
  }

  /** Ends all running work of the session or its workspace; resolves when it is gone. Gives the turns it ended. */
  async stop(scope: "session" | "workspace", reason: string, options: CallOptions): Promise<readonly string[]> {
    const request = {
      scope: scope === "session" ? StopScope.SESSION : StopScope.WORKSPACE,
      sessionId: this.sessionId,
      reason,
    };
    const { signal } = options;
    const response = await retryingCall(() => this.client.stop(request, { signal }), { signal, attempts: 3 });
    return response.turnIds;
  }

  /**
   * Takes back a change set, the newest one unless named. A dry run only says what would be left as it is. Throws where others changed
   * the same lines since, unless it is to take back the rest.
   */
  async undo(
    options: CallOptions & { readonly changeSetId?: string; readonly dryRun?: boolean; readonly rest?: boolean },
  ): Promise<UndoneChangeSet> {
    const { changeSetId = "", dryRun = false, rest = false } = options;
    const request = { sessionId: this.sessionId, changeSetId, dryRun, rest };
    const response = await this.client.undoChangeSet(request, { signal: options.signal });
    return {
      changeSetId: response.changeSetId,
      files: response.files.map(appliedFileFromMessage),
      skipped: response.skipped.map(skippedFileFromMessage),
      refs: response.refs,
    };
  }

  /**
   * Has the server carry out what the user decided: all kept files in one step, or nothing. Sent again as it is when the way
   * to the server breaks: the same decisions are carried out once.
   */
  async applyProposal(
    review: Review & {
      /** Of the proposal, as the user saw it. */
      readonly changes: readonly Pick<ProposedChange, "path" | "baseSha256">[];
    },
    options: CallOptions,
  ): Promise<ServerAppliedProposal> {
    const { proposalId, note, hunks, changes } = review;
    const request = {
      sessionId: this.sessionId,
      proposalId,
      note,
      hunks: hunks.map(reviewedHunkFields),
      expectedBases: changes.map(({ path, baseSha256: sha256 }) => ({ path, sha256 })),
    };
    const { signal } = options;
    const response = await retryingCall(() => this.client.applyProposal(request, { signal }), { signal, attempts: 6 });
    return { changeSetId: response.changeSetId, files: response.files.map(appliedFileFromMessage) };
  }

  /** Tells the server, and by it the model and the ledger, what the user decided about a proposal. */
  async submitReview(review: Review, options: CallOptions): Promise<void> {
    const hunks = review.hunks.map(reviewedHunkFields);
    await this.#submit({ case: "proposalReview", value: { ...review, hunks } }, options);
  }

  /** Tells the server what was written after a review; an error when nothing was. */
  async reportApplied(
    applied: { readonly proposalId: string; readonly files: readonly AppliedFile[]; readonly error: string },
    options: CallOptions,
  ): Promise<void> {
    const files = applied.files.map(appliedFileToMessage);
    await this.#submit({ case: "proposalApplied", value: { ...applied, files } }, options);
  }

  /** Content by a digest from one of the session's events. */
  async blob(sha256: string, options: CallOptions): Promise<Uint8Array> {
    const response = await this.client.getBlob({ sessionId: this.sessionId, sha256 }, { signal: options.signal });
    return response.content;
  }

  async changeSettings(choice: SettingsChoice, options: CallOptions): Promise<ReportedSettings> {
    const request = { sessionId: this.sessionId, settings: settingsToMessage(choice) };
    const response = await this.client.setSettings(request, { signal: options.signal });
    return settingsFromMessage(response.settings);
  }

  async #submit(event: AnswerInit, { signal }: CallOptions): Promise<void> {
    const request = { sessionId: this.sessionId, clientId: this.identity.clientId, event };
    let attempts = 0;
    const submit = async () => {
      attempts++;
      try {
        return await this.client.submitClientEvent(request, { signal });
      } catch (error) {
        // The first try arrived after all, only its answer was lost.
        if (attempts > 1 && error instanceof ConnectError && error.code === Code.AlreadyExists) return undefined;
        throw error;
      }
    };
    const response = await retryingCall(submit, { signal, attempts: 6 });
    if (response?.status === "ERROR") throw new Error(response.error);
  }
}

/** A turn that was cut off when its server went away. */
export interface CutOffTurn {
  readonly turnId: string;
  /** For a person; what the server says. */
  readonly message: string;
  /** It waited for a user's answer. */
  readonly waited: boolean;
}

export interface UndoneChangeSet {
  readonly changeSetId: string;
  readonly files: readonly AppliedFile[];
  /** Left as they are, because what was there before was kept nowhere; also refs that changed since. */
  readonly skipped: readonly SkippedFile[];
  /** Of the repository, where they were before. */
  readonly refs: readonly string[];
}

/** What the server wrote. */
export interface ServerAppliedProposal {
  /** For `undo`; empty when nothing was kept. */
  readonly changeSetId: string;
  readonly files: readonly AppliedFile[];
}
