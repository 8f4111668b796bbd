import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import type { FindPorts, FindRequest, FoundServer } from "./find-server.ts";
import { findAt, findServer } from "./find-server.ts";
import {
  answers,
  type ConnectionOptions,
  isProblem,
  openConnection,
  type ServerConnection,
} from "./server-connection.ts";
import { describeProblem, NoServerError, type ServerProblem } from "./server-problem.ts";

export type LinkState =
  | { readonly type: "idle" | "connecting" }
  | { readonly type: "connected"; readonly url: string; readonly version: string }
  | { readonly type: "lost"; readonly url: string; readonly reason: string }
  | { readonly type: "failed"; readonly problem: ServerProblem };

export interface LinkOptions {
  /** What to look for; a problem if nothing may be looked for. */
  readonly request: () => Promise<FindRequest | ServerProblem>;
  readonly ports: FindPorts;
  readonly interceptors: readonly Interceptor[];
  readonly commands: ConnectionOptions["commands"];
  readonly onState: (state: LinkState) => void;
}

/** The connection to the server. Connects on first use, once for all simultaneous callers. */
export class ServerLink {
  readonly #options: LinkOptions;
  readonly #closing = new AbortController();
  #state: LinkState = { type: "idle" };
  #connection: ServerConnection | undefined;
  #connecting: Promise<ServerConnection> | undefined;
  /** Why no server could be started: shown until there is one, because that none answers says less. */
  #startProblem: ServerProblem | undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  get state(): LinkState {
    return this.#state;
  }

  get connection(): ServerConnection | undefined {
    return this.#connection;
  }

  /** Rejects with `NoServerError`. */
  async connect(): Promise<ServerConnection> {
    if (this.#connection !== undefined) return this.#connection;
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  /** If the connected server no longer answers, the next `connect` looks for a server again. */
  async forgetIfGone(): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined || (await answers(connection))) return;
    if (this.#connection === connection) this.forget();
  }

  /** The next `connect` looks for a server again. */
  forget(): void {
    this.#connection = undefined;
    this.#startProblem = undefined;
    this.#become({ type: "idle" });
  }

  /** A stream broke, or works again: shown to the user, while calls go on trying. */
  report(change: { readonly type: "lost"; readonly reason: string } | { readonly type: "back" }): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    const { url, version } = connection;
    if (change.type === "lost") this.#become({ type: "lost", url, reason: change.reason });
    else if (this.#state.type !== "connected") this.#become({ type: "connected", url, version });
  }

  /** A server was to be started, and did not. Throws `NoServerError`. */
  notStarted(problem: ServerProblem): never {
    this.#startProblem = problem;
    return this.#fail(problem);
  }

  close(): void {
    this.#closing.abort();
  }

  async #open(): Promise<ServerConnection> {
    // Repeated attempts must not make the window flicker.
    if (this.#state.type !== "failed") this.#become({ type: "connecting" });
    const found = await this.#find();
    if (found.type !== "found") return this.#fail(found);
    const opened = await openConnection(found, {
      commands: this.#options.commands,
      interceptors: this.#options.interceptors,
      signal: this.#closing.signal,
      renewToken: () => this.#renewToken(found.url),
    });
    if (isProblem(opened)) return this.#fail(opened);
    this.#connection = opened;
    this.#become({ type: "connected", url: opened.url, version: opened.version });
    return opened;
  }

  async #find(): Promise<FoundServer> {
    const request = await this.#options.request();
    return "type" in request ? request : findServer(request, this.#options.ports);
  }

  async #renewToken(url: string): Promise<string> {
    const found = await findAt(url, this.#options.ports);
    if (found.type === "found" && found.token !== undefined) return found.token;
    throw new ConnectError(
      found.type === "found"
        ? `The program at ${url} does not prove that it is the Gennai server.`
        : describeProblem(found).message,
      Code.Unavailable,
    );
  }

  #fail(problem: ServerProblem): never {
    const shown = problem.type === "not-running" ? (this.#startProblem ?? problem) : problem;
    this.#become({ type: "failed", problem: shown });
    throw new NoServerError(problem);
  }

  #become(state: LinkState): void {
    this.#state = state;
    this.#options.onState(state);
  }
}
