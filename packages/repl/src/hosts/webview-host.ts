import type { HostNotice } from "@gennai/client/host/host-messages";
import { type ToApp, type ToHost, toAppSchema } from "@gennai/client/host/host-messages";
import { MessageTransport } from "@gennai/client/host/message-transport";
import { askedWindow } from "@gennai/client/host/window-requests";
import type { ReplHost } from "./repl-host.ts";

/** The API that VS Code gives a webview. */
export interface WebviewApi {
  postMessage(message: unknown): void;
}

/** The part of the window that a host needs. */
export interface WebviewWindow {
  readonly origin: string;
  addEventListener(type: "message", listener: (event: MessageEvent<unknown>) => void): void;
  removeEventListener(type: "message", listener: (event: MessageEvent<unknown>) => void): void;
}

/**
 * Connects the app to the extension host. Resolves when the host has sent its first message. Messages of another origin, and
 * those that do not fit the schema, are dropped.
 */
export function connectWebviewHost(api: WebviewApi, frame: WebviewWindow): Promise<ReplHost> {
  const listeners = new Set<(message: ToApp) => void>();
  frame.addEventListener("message", (event) => {
    if (event.origin !== frame.origin) return;
    const message = toAppSchema.safeParse(event.data);
    if (message.success) for (const listener of listeners) listener(message.data);
  });
  const listen = (listener: (message: ToApp) => void) => {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  };
  const post = (message: ToHost) => api.postMessage(message);
  const transport = new MessageTransport({ post, listen });
  const requests = new HostRequests(post, listen);
  return new Promise((resolve) => {
    const stop = listen((message) => {
      if (message.type !== "launch") return;
      stop();
      resolve(hostOf(message, { post, listen, transport, requests }));
    });
    post({ type: "ready" });
  });
}

interface Channel {
  readonly post: (message: ToHost) => void;
  readonly listen: (listener: (message: ToApp) => void) => () => void;
  readonly transport: MessageTransport;
  readonly requests: HostRequests;
}

function hostOf({ launch }: Extract<ToApp, { type: "launch" }>, channel: Channel): ReplHost {
  const { post, listen, transport, requests } = channel;
  const { workspace, sessionId, reviews = [], ...rest } = launch;
  let shown = sessionId ?? "";
  return {
    kind: "editor",
    transport,
    launch: { ...rest, workspace, sessionId, reviews },
    saveState: (state) => post({ type: "save-state", state }),
    saveReview: (state) => post({ type: "save-review", state }),
    showsSession(id) {
      shown = id;
      post({ type: "shows-session", sessionId: id });
    },
    ...askedWindow((wanted, asked) => requests.ask({ sessionId: shown, wanted, asked })),
    onNotice: (listener) =>
      listen((message) => {
        if (message.type === "notice") listener(noticeOf(message.notice));
      }),
  };
}

function noticeOf(notice: Extract<ToApp, { type: "notice" }>["notice"]): HostNotice {
  return notice.type === "show-session" ? { type: "show-session", sessionId: notice.sessionId } : notice;
}

/** Requests to the host that wait for an answer. */
class HostRequests {
  readonly #post: (message: ToHost) => void;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #lastId = 0;

  constructor(post: (message: ToHost) => void, listen: Channel["listen"]) {
    this.#post = post;
    listen((message) => {
      if (message.type !== "answer") return;
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (message.error === undefined) waiting?.resolve(message.value);
      else waiting?.reject(new Error(message.error));
    });
  }

  /** Rejects with the host's message. */
  ask(request: Omit<Extract<ToHost, { type: "request" }>, "type" | "id">): Promise<unknown> {
    const id = ++this.#lastId;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(id, waiting);
    this.#post({ type: "request", id, ...request });
    return waiting.promise;
  }
}
