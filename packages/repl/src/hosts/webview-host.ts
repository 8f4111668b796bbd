import { type HostRequest, type ToApp, type ToHost, toAppSchema } from "@gennai/client/host/host-messages";
import { MessageTransport } from "@gennai/client/host/message-transport";
import type { EditorModel, HostNotice, ReplHost, ReviewToApply } from "@gennai/client/host/repl-host";
import type { EditorContext } from "@gennai/client/session/editor-context";
import type { ModelTrial } from "@gennai/client/session/model-choices";

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
    applyProposal: async (review) => ({
      files: textList(await requests.ask({ type: "apply-proposal", review: copied(review) }), "files"),
    }),
    revertChangeSet: async (changeSetId) => {
      await requests.ask({ type: "revert-change-set", sessionId: shown, changeSetId });
    },
    openFile: async (path, line) => {
      await requests.ask({ type: "open-file", path, ...(line === undefined ? {} : { line }) });
    },
    openRule: async (place) => {
      await requests.ask({ type: "open-rule", place });
    },
    openDiff: async (proposalId, changeId) => {
      await requests.ask({ type: "open-diff", sessionId: shown, proposalId, changeId });
    },
    watchCall: async ({ afterSeq, ...call }) => {
      await requests.ask({ type: "watch-call", sessionId: shown, ...call, afterSeq: `${afterSeq}` });
    },
    openChange: async ({ path, beforeSha256, afterSha256 }, attemptsId) => {
      await requests.ask({ type: "open-change", sessionId: shown, path, beforeSha256, afterSha256, attemptsId });
    },
    editorContext: async () => editorContext(await requests.ask({ type: "editor-context" })),
    namesOfDropped: async (uris) => {
      const names = await requests.ask({ type: "names-of-dropped", uris: uris.slice(0, 100) });
      return textList({ names }, "names");
    },
    keepModel: async (choice) => {
      await requests.ask({ type: "keep-model", choice: { ...choice } });
    },
    keepModelKey: async ({ backend, baseUrl, key }) => {
      await requests.ask({ type: "keep-model-key", backend, baseUrl, key });
    },
    editorModels: {
      list: async () => editorModels(await requests.ask({ type: "list-editor-models" })),
      try: async (model) => trialOf(await requests.ask({ type: "try-editor-model", model })),
    },
    runHostCommand: async (command) => {
      await requests.ask({ type: "run-host-command", command });
    },
    onNotice: (listener) =>
      listen((message) => {
        if (message.type === "notice") listener(noticeOf(message.notice));
      }),
  };
}

function noticeOf(notice: Extract<ToApp, { type: "notice" }>["notice"]): HostNotice {
  return notice.type === "show-session" ? { type: "show-session", sessionId: notice.sessionId } : notice;
}

function copied(review: ReviewToApply): Extract<HostRequest, { type: "apply-proposal" }>["review"] {
  return { ...review, hunks: review.hunks.map((hunk) => ({ ...hunk })) };
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
  ask(request: HostRequest): Promise<unknown> {
    const id = ++this.#lastId;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(id, waiting);
    this.#post({ type: "request", id, request });
    return waiting.promise;
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function textList(value: unknown, name: string): readonly string[] {
  const list = field(value, name);
  return Array.isArray(list) ? list.filter((entry) => typeof entry === "string") : [];
}

function editorModels(value: unknown): readonly EditorModel[] {
  return (Array.isArray(value) ? value : []).flatMap((entry: unknown) => {
    const model = field(entry, "model");
    const contextTokens = field(entry, "contextTokens");
    return typeof model === "string" && typeof contextTokens === "number" ? [{ model, contextTokens }] : [];
  });
}

function trialOf(value: unknown): ModelTrial {
  const milliseconds = field(value, "milliseconds");
  if (typeof milliseconds === "number") return { type: "answered", milliseconds };
  return { type: "failed", problem: String(field(value, "problem")), hint: "" };
}

function editorContext(value: unknown): EditorContext {
  const activeFile = field(value, "activeFile");
  const selection = field(value, "selection");
  const startLine = field(selection, "startLine");
  const endLine = field(selection, "endLine");
  const text = field(selection, "text");
  return {
    activeFile: typeof activeFile === "string" ? activeFile : undefined,
    selection:
      typeof startLine === "number" && typeof endLine === "number" && typeof text === "string"
        ? { startLine, endLine, text }
        : undefined,
    openFiles: textList(value, "openFiles"),
  };
}
