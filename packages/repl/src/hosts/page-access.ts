import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { callFailure } from "@gennai/client/connection/call-failure";
import type { HostNotice } from "@gennai/client/host/host-messages";
import type { PageDoor } from "./page-door.ts";
import { exchangeCode, PageRefused } from "./page-link.ts";

const tokenKey = "gennai.token";

type ServerNotice = Extract<HostNotice, { readonly type: "server" }>;

/**
 * The page's right to call the server: a token for this tab alone, in the tab's session storage and nowhere else. When the server
 * no longer accepts it, the door asks for a link, and calls wait for the new token.
 */
export class PageAccess {
  readonly #storage: Storage;
  readonly #door: PageDoor;
  readonly #exchange: (code: string) => Promise<string>;
  readonly #remembered: () => Promise<string | undefined>;
  readonly #notify: (notice: ServerNotice) => void;
  #state: ServerNotice["state"] = "connected";
  #token: string | undefined;
  #waiting = Promise.withResolvers<string>();

  constructor(options: {
    readonly storage: Storage;
    readonly door: PageDoor;
    readonly notify: (notice: ServerNotice) => void;
    readonly exchange?: (code: string) => Promise<string>;
    /** A token because this browser is remembered; undefined: it is not. */
    readonly remembered?: () => Promise<string | undefined>;
  }) {
    this.#storage = options.storage;
    this.#door = options.door;
    this.#exchange = options.exchange ?? exchangeCode;
    this.#remembered = options.remembered ?? (async () => undefined);
    this.#notify = options.notify;
    this.#token = this.#storage.getItem(tokenKey) ?? undefined;
  }

  /**
   * Begins with the code of the link, else with the token from before a reload, else as a browser that is remembered; without
   * all, the door is shown.
   */
  async begin(code: string | undefined): Promise<void> {
    if (code !== undefined) await this.use(code);
    else if (this.#token === undefined) await this.#comeBack("Open it by the link that the server prints.");
    await this.#current();
  }

  /** The page's token, as soon as it has one. */
  get token(): Promise<string> {
    return this.#current();
  }

  /** Takes a code that came later, by the address bar. Never rejects: the door shows what is wrong. */
  async use(code: string): Promise<void> {
    try {
      await this.#enter(code);
      this.#door.close();
    } catch (error) {
      if (!(error instanceof PageRefused)) throw error;
      // A tab that already has a token keeps it.
      if (this.#token === undefined) this.#refused(error.message);
    }
  }

  /** Adds the token to every call, and watches the results. */
  get interceptor(): Interceptor {
    return (next) => async (request) => {
      const token = await unlessAborted(this.#current(), request.signal);
      request.header.set("Authorization", `Bearer ${token}`);
      try {
        const response = await next(request);
        this.#say("connected", "");
        return response.stream ? { ...response, message: this.#watched(response.message, request.signal) } : response;
      } catch (error) {
        throw this.#judged(error, token, request.signal);
      }
    };
  }

  async *#watched<Message>(messages: AsyncIterable<Message>, signal: AbortSignal): AsyncGenerator<Message, void> {
    try {
      yield* messages;
    } catch (error) {
      throw this.#judged(error, undefined, signal);
    }
  }

  #judged(error: unknown, token: string | undefined, signal: AbortSignal): unknown {
    if (signal.aborted) return error;
    if (error instanceof ConnectError && error.code === Code.Unauthenticated) {
      if (token === this.#token) {
        this.#token = undefined;
        this.#waiting = Promise.withResolvers();
        this.#storage.removeItem(tokenKey);
        void this.#comeBack("The server was started again, or shut this page out.");
      }
      // Calls that may be repeated are repeated, and then wait for the new token.
      return new ConnectError("This page needs a new link.", Code.Unavailable, undefined, undefined, error);
    }
    if (callFailure(error) === "passing") {
      this.#say("unreachable", "The server does not answer. If it was stopped, start it again: gennai serve.");
    }
    return error;
  }

  #current(): Promise<string> {
    return this.#token === undefined ? this.#waiting.promise : Promise.resolve(this.#token);
  }

  /** In as a browser that is remembered, else with the door. Never rejects. */
  async #comeBack(message: string): Promise<void> {
    const token = await this.#remembered().catch(() => undefined);
    if (this.#token !== undefined) return;
    if (token === undefined) this.#refused(message);
    else this.#take(token);
  }

  async #enter(code: string): Promise<void> {
    this.#take(await this.#exchange(code));
  }

  #take(token: string): void {
    this.#token = token;
    this.#storage.setItem(tokenKey, token);
    this.#waiting.resolve(token);
    this.#say("connected", "");
  }

  #refused(message: string): void {
    this.#door.show(message, (code) => this.#enter(code));
    this.#say("refused", `${message} A new link: gennai open.`);
  }

  #say(state: ServerNotice["state"], message: string): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#notify({ type: "server", state, message });
  }
}

function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(ConnectError.from(signal.reason, Code.Canceled));
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener("abort", abort));
}
