import type { Transport } from "@connectrpc/connect";
import { CallRelay } from "@gennai/client/host/call-relay";
import type { HostNotice, ReplLaunch } from "@gennai/client/host/host-messages";
import { type ToApp, type ToHost, toHostSchema } from "@gennai/client/host/host-messages";
import { type AnsweredRequests, answeredByWindow } from "@gennai/client/host/window-requests";
import { errorMessage } from "@gennai/protocol/error-message";

/** The part of a webview that its host needs. */
export interface ReplWebview {
  post(message: ToApp): void;
  /** @returns a function that stops listening */
  listen(listener: (message: unknown) => void): () => void;
}

export interface HostedReplOptions {
  readonly webview: ReplWebview;
  readonly transport: Transport;
  readonly actions: AnsweredRequests;
  readonly launch: () => Promise<ReplLaunch>;
  readonly saveState: (state: unknown) => void;
  /** A decision about a proposal was made in this view. */
  readonly saveReview: (state: unknown) => void;
  readonly showsSession: (sessionId: string) => void;
  /** Reports to the log what was dropped or failed. */
  readonly onProblem: (what: string, error: unknown) => void;
}

const stateLimit = 64 * 1024;
/**
 * Most byte arrays in one message to a webview. VS Code sends each as an argument of its own and counts arguments in one byte: a
 * message with more than about 250 never arrives.
 */
const buffersAtOnce = 128;

/** The extension host's side of one REPL in a webview. */
export class HostedRepl implements Disposable {
  readonly #options: HostedReplOptions;
  readonly #relay: CallRelay;
  readonly #stopListening: () => void;
  #isReady = false;
  #waiting: HostNotice[] = [];
  #disposed = false;

  constructor(options: HostedReplOptions) {
    this.#options = options;
    this.#relay = new CallRelay({ transport: options.transport, post: (message) => this.#post(message) });
    this.#stopListening = options.webview.listen((message) => void this.#receive(message));
  }

  /** Sends the app a notice, now or as soon as it runs. */
  notify(notice: HostNotice): void {
    if (this.#isReady) this.#post({ type: "notice", notice: noticeMessage(notice) });
    else this.#waiting.push(notice);
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#stopListening();
    this.#relay[Symbol.dispose]();
  }

  async #receive(raw: unknown): Promise<void> {
    const parsed = toHostSchema.safeParse(raw);
    if (!parsed.success) {
      this.#options.onProblem("A message of the REPL was not understood, and was dropped.", parsed.error);
      return;
    }
    const message = parsed.data;
    if (this.#relay.handle(message)) return;
    switch (message.type) {
      case "ready":
        // A page that was loaded again has forgotten the calls of the earlier one.
        this.#relay.cancelAll();
        await this.#launch();
        return;
      case "save-state":
        this.#save(message.state);
        return;
      case "save-review":
        this.#options.saveReview(message.state);
        return;
      case "shows-session":
        this.#options.showsSession(message.sessionId);
        return;
      case "request":
        await this.#answer(message);
        return;
      default:
    }
  }

  async #launch(): Promise<void> {
    const { workspace, sessionId, reviews = [], ...launch } = await this.#options.launch();
    this.#post({
      type: "launch",
      launch: {
        ...launch,
        settings: { ...launch.settings },
        reviews: [...reviews],
        ...(workspace === undefined ? {} : { workspace }),
        ...(sessionId === undefined ? {} : { sessionId }),
      },
    });
    this.#isReady = true;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const notice of waiting) this.notify(notice);
  }

  #save(state: unknown): void {
    if ((JSON.stringify(state) ?? "").length <= stateLimit) this.#options.saveState(state);
    else this.#options.onProblem("The REPL's state is larger than 64 KiB and was not kept.", undefined);
  }

  async #answer({ id, wanted, asked, sessionId }: Extract<ToHost, { type: "request" }>): Promise<void> {
    try {
      const value = await answeredByWindow(this.#options.actions, wanted, asked, sessionId);
      // `undefined` is lost in a message to a webview, and an answer without a value would not be valid.
      this.#post({ type: "answer", id, value: value ?? null });
    } catch (error) {
      this.#options.onProblem(`The REPL's request ${wanted} failed.`, error);
      this.#post({
        type: "answer",
        id,
        value: null,
        error: errorMessage(error),
      });
    }
  }

  #post(message: ToApp): void {
    if (this.#disposed) return;
    const { post } = this.#options.webview;
    if (message.type !== "messages") return post(message);
    for (let at = 0; at < message.messages.length; at += buffersAtOnce) {
      post({ ...message, messages: message.messages.slice(at, at + buffersAtOnce) });
    }
  }
}

function noticeMessage(notice: HostNotice): Extract<ToApp, { type: "notice" }>["notice"] {
  switch (notice.type) {
    case "show-session":
      return { type: notice.type, ...(notice.sessionId === undefined ? {} : { sessionId: notice.sessionId }) };
    case "mention":
      return { type: notice.type, mentions: [...notice.mentions] };
    case "settings":
      return { type: notice.type, settings: { ...notice.settings } };
    default:
      return { ...notice };
  }
}
