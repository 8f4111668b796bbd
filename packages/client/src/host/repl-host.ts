import type { Transport } from "@connectrpc/connect";
import type { EditingMode } from "@gennai/protocol/model/session/session-settings";
import type { ReviewState } from "./review-state.ts";
import type { HostCommand, WindowActions } from "./window-requests.ts";

/**
 * The environment of the REPL app: a webview of an editor, or a page from the server. The app gets everything beyond its own
 * screen from here, and offers only what the host supports: without an action of a window, the server does it, or it is not offered.
 */
export interface ReplHost extends Partial<Omit<WindowActions, "keepModel">>, Pick<WindowActions, "keepModel"> {
  readonly kind: "editor" | "page";
  /** Transport to the server. An editor's goes through the extension host, which has the token. */
  readonly transport: Transport;
  readonly launch: ReplLaunch;
  /** Keeps what the app wants to find again after a reload: JSON, at most 64 KiB. */
  saveState(state: unknown): void;
  /**
   * Tells what the user decided about a proposal so far, whenever that changes. undefined: the app keeps it itself, in its
   * state.
   */
  readonly saveReview?: (state: ReviewState) => void;
  /** Told which session the app shows, whenever it shows another one; empty: none yet. */
  showsSession(sessionId: string): void;
  /** Browsers that may come in without a link; only where the server remembers some. */
  readonly devices?: RememberedDevices;
  /** Listens to notices from the host. Returns a function that stops listening. */
  onNotice(listener: (notice: HostNotice) => void): () => void;
}

/** Each rejects where the server does not answer. */
export interface RememberedDevices {
  /** Times in milliseconds since the epoch. */
  list(): Promise<
    readonly { readonly id: string; readonly name: string; readonly used: number; readonly expires: number }[]
  >;
  /** The id of this browser, if it is one of them. */
  own(): Promise<string | undefined>;
  remember(): Promise<void>;
  forget(id: string): Promise<void>;
}

/** Initial data of the app. */
export interface ReplLaunch {
  /** Stable over reloads: the app's own client id. */
  readonly clientId: string;
  /** Shown to people, e.g. `gennai-vscode 0.1.0`. */
  readonly clientName: string;
  readonly version: string;
  /** Absolute path; undefined: the server's default. */
  readonly workspace: string | undefined;
  /** The session to show; undefined: the newest of the workspace, or a new one with the first prompt. */
  readonly sessionId: string | undefined;
  /** Folders of the window that a session could work on; more than one: a person may choose. */
  readonly folders?: number;
  /** Last value given to `saveState`. */
  readonly state: unknown;
  readonly settings: ReplSettings;
  /** Reviews that the host holds, newest first (`KeptReviews`); undefined: it holds none. */
  readonly reviews?: readonly unknown[];
}

export interface ReplSettings {
  readonly showThinking: boolean;
  /** Empty: the server's default. */
  readonly backend: string;
  readonly model: string;
  /** Address of the model's server; empty: the default. */
  readonly modelUrl: string;
  readonly editingMode: EditingMode;
  readonly scenario: string;
  /** How long a question of a new session waits, 0: no limit; undefined: the server's default. */
  readonly questionSeconds?: number;
}

export type HostNotice =
  /** Show this session; undefined: begin a new one with the next prompt. */
  | { readonly type: "show-session"; readonly sessionId: string | undefined }
  /** Show a call in the conversation of its session. */
  | { readonly type: "show-call"; readonly sessionId: string; readonly turnId: string; readonly callId: string }
  /** Send this as the user's prompt, or only put it into the box. */
  | { readonly type: "prompt"; readonly text: string; readonly send: boolean }
  /** Put these mentions (`@src/a.ts:1-3`) into what is being written. */
  | { readonly type: "mention"; readonly mentions: readonly string[] }
  /** Have a text go along with what is being written, as material: a chip names it. */
  | { readonly type: "attach"; readonly title: string; readonly text: string }
  /** `proposalId`: which one the review shows; absent: the one it showed before, else the newest. */
  | { readonly type: "show-panel"; readonly panel: ReplPanel; readonly proposalId?: string }
  /** Let the user choose a model. */
  | { readonly type: "choose-model" }
  | { readonly type: "settings"; readonly settings: ReplSettings }
  /** Something was decided elsewhere about a proposal: a `ReviewState`. */
  | { readonly type: "review"; readonly state: unknown }
  /** The way to the server was lost or came back; `message` says what to do. */
  | {
      readonly type: "server";
      readonly state: "connected" | "unreachable" | "refused";
      readonly message: string;
      /** Buttons with what to do; absent: starting a server, and the log. */
      readonly steps?: readonly HostCommand[];
    }
  /** Another window works in the workspace, and this one only watches; or no longer. */
  | { readonly type: "role"; readonly watching: boolean }
  /** The window got or lost the focus of a person: a webview's own focus says that of one part of it. */
  | { readonly type: "window"; readonly focused: boolean };

export const replPanels = [
  "chat",
  "review",
  "more",
  "plan",
  "todos",
  "attempts",
  "checkpoints",
  "timeline",
  "governance",
  "prompt",
] as const;
export type ReplPanel = (typeof replPanels)[number];
