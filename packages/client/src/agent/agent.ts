import type { HunkDecision } from "@gennai/protocol/apply-review";
import type { Hunk, Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
import type { SettingsChoice } from "@gennai/protocol/model/session/session-settings";
import type { ClientIdentity } from "../connection/client-identity.ts";
import type { AgentClient, CallOptions } from "../connection/connection.ts";
import { decidableIds } from "../host/review-state.ts";
import { AgentSession } from "../session/agent-session.ts";
import { SessionView } from "../view/session-view.ts";
import { AgentError, agentError } from "./agent-error.ts";
import type { AgentEvent } from "./agent-event.ts";
import type { AgentOptions, RunOptions } from "./agent-options.ts";
import { toldEvents } from "./told-events.ts";

/** Decides one part of a proposal. @param hunk undefined: the change is kept or not as a whole */
export type Decide = (change: ProposedChange, hunk: Hunk | undefined) => "keep" | "undo" | HunkDecision;

/** What a change set did to files. */
export interface ChangedFiles {
  /** Empty when nothing was changed. */
  readonly changeSetId: string;
  /** Paths relative to the workspace. */
  readonly files: readonly string[];
}

/** A connection to a server. */
export interface AgentServer extends AsyncDisposable {
  readonly client: AgentClient;
  /** Empty for one that is reached in another way. */
  readonly url: string;
}

/** A session with the agent. Every method rejects with `AgentError` when the server refuses or cannot be reached. */
export class Agent implements AsyncDisposable {
  readonly #server: AgentServer;
  readonly #session: AgentSession;
  readonly #options: AgentOptions;
  readonly #closed = new AbortController();

  private constructor(server: AgentServer, session: AgentSession, options: AgentOptions) {
    this.#server = server;
    this.#session = session;
    this.#options = options;
  }

  /**
   * Begins a session on a server, or goes on with one. Disposing the agent disposes the connection.
   * @internal
   */
  static async open(server: AgentServer, options: AgentOptions): Promise<Agent> {
    const { resume, signal = new AbortController().signal } = options;
    const { client } = server;
    const named = { name: undefined, ...options };
    try {
      const session = await AgentSession.open(client, identityOf(named), {
        resume,
        settings: settingsOf(options),
        interactive: options.confirm !== undefined || options.askUser !== undefined,
        signal,
      });
      return new Agent(server, session, options);
    } catch (error) {
      throw agentError(error);
    }
  }

  /** For `resume`. */
  get sessionId(): string {
    return this.#session.sessionId;
  }

  /** The workspace as the server resolved it: absolute. */
  get workspace(): string {
    return this.#session.workingDir;
  }

  /** Of the server; other clients find the session there. */
  get url(): string {
    return this.#server.url;
  }

  /**
   * Has the agent do something, and gives what happens until the turn ends; the last event is an `end`. Leaving the loop stops
   * nothing: that is `stop`. In a session where a turn runs already, see `queue`.
   */
  async *run(request: string, { signal, ...options }: RunOptions = {}): AsyncGenerator<AgentEvent, void> {
    const turn = { text: request, branchTask: request, ...options };
    yield* this.#told(() => this.#session.runTurn(turn, { signal: this.#signal(signal), maxAttempts: mostTries }));
  }

  /** All events of the session, those to come as well, until `signal` aborts. @param after a `seq`: only what came later */
  async *events({
    after = 0,
    signal,
  }: {
    readonly after?: number;
    readonly signal?: AbortSignal;
  } = {}): AsyncGenerator<AgentEvent, void> {
    const following = { afterSeq: BigInt(after), signal: this.#signal(signal), maxAttempts: mostTries };
    yield* this.#told(() => this.#session.follow(following));
  }

  /** Says something to the turn that runs; the model gets it with its next call. Rejects when none runs. */
  async queue(text: string): Promise<void> {
    const message = { messageId: crypto.randomUUID(), text, images: [] };
    await this.#call((options) => this.#session.queueMessage(message, options));
  }

  /** Ends all that runs in the session; resolves when it has ended. @param reason for people */
  async stop(reason = "Stopped by its program."): Promise<void> {
    await this.#call((options) => this.#session.stop("session", reason, options));
  }

  /** Takes back a change set, the newest one unless named. */
  async undo(changeSetId?: string): Promise<ChangedFiles> {
    const choice = changeSetId === undefined ? {} : { changeSetId };
    const undone = await this.#call((options) => this.#session.undo({ ...options, ...choice }));
    return { changeSetId: undone.changeSetId, files: undone.files.map(({ path }) => path) };
  }

  /** Proposals that nobody has decided, oldest first. */
  async proposals(): Promise<readonly Proposal[]> {
    const view = new SessionView();
    return this.#call(async (options) => {
      for await (const event of this.#session.history(options)) view.apply(event);
      return [...view.facts.peek().openProposals.values()];
    });
  }

  /**
   * Decides a proposal, and has the server write what is kept: all of it in one step, or nothing.
   * @param note for the model: why, and what instead
   */
  async review(proposal: Proposal, decide: "keep" | "undo" | Decide, note = ""): Promise<ChangedFiles> {
    const { proposalId, changes } = proposal;
    const decisionOf = (change: ProposedChange, hunkId: string): HunkDecision => {
      const hunk = change.hunks.find(({ id }) => id === hunkId);
      const decided = typeof decide === "string" ? decide : decide(change, hunk);
      return typeof decided === "string" ? { type: decided } : decided;
    };
    const hunks = changes.flatMap((change) =>
      decidableIds(change).map((hunkId) => ({ changeId: change.id, hunkId, decision: decisionOf(change, hunkId) })),
    );
    const applied = await this.#call((options) =>
      this.#session.applyProposal({ proposalId, note, hunks, changes }, options),
    );
    return { changeSetId: applied.changeSetId, files: applied.files.map(({ path }) => path) };
  }

  /** A new session that begins where this one is now. Both need to be disposed; the server ends with the first agent. */
  async fork(): Promise<Agent> {
    const { client } = this.#server;
    const { sessionId: resume } = await this.#call((options) =>
      client.forkSession({ sessionId: this.sessionId }, options),
    );
    const { model: _model, mode: _mode, ...options } = this.#options;
    const server = { client, url: this.url, [Symbol.asyncDispose]: async () => {} };
    return Agent.open(server, { ...options, resume });
  }

  /** Leaves the session, which the server keeps. Turns go on, unless the server ends with this program. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort(new AgentError("The agent is disposed.", { code: "canceled" }));
    await this.#server[Symbol.asyncDispose]();
  }

  #signal(signal: AbortSignal | undefined): AbortSignal {
    return AbortSignal.any([this.#closed.signal, this.#options.signal, signal].filter((each) => each !== undefined));
  }

  async #call<Value>(work: (options: CallOptions) => Promise<Value>): Promise<Value> {
    try {
      return await work({ signal: this.#signal(undefined) });
    } catch (error) {
      throw agentError(error);
    }
  }

  async *#told(follow: () => ReturnType<AgentSession["follow"]>): AsyncGenerator<AgentEvent, void> {
    try {
      yield* toldEvents(follow());
    } catch (error) {
      throw agentError(error);
    }
  }
}

/** Connections that may fail in a row. */
const mostTries = 6;

function identityOf({
  name = "program",
  confirm,
  askUser,
}: {
  readonly name: string | undefined;
  readonly confirm?: AgentOptions["confirm"];
  readonly askUser?: AgentOptions["askUser"];
}): ClientIdentity {
  return {
    clientId: crypto.randomUUID(),
    name,
    version: "",
    editor: {
      ...(confirm === undefined ? {} : { confirm: async (question, options) => confirm(question, options) }),
      ...(askUser === undefined ? {} : { askUser: async ({ questions }, options) => askUser(questions, options) }),
    },
  };
}

function settingsOf({ workspace, model = {}, mode }: AgentOptions): SettingsChoice {
  const { backend, name, baseUrl } = model;
  return {
    ...(workspace === undefined ? {} : { workingDir: workspace }),
    ...(backend === undefined ? {} : { backend }),
    ...(name === undefined ? {} : { model: name }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(mode === undefined ? {} : { editingMode: mode }),
  };
}
