import type { Transport } from "@connectrpc/connect";
import type { EditingMode } from "@gennai/protocol/model/session-settings";
import type { Review } from "../review/review.ts";
import type { EditorContext } from "../session/editor-context.ts";

/**
 * Where the REPL app lives: a webview of an editor, or a page that the server serves. The app takes everything that is
 * not on its own screen from here, and offers nothing that its home does not have.
 */
export interface ReplHome {
  readonly kind: "editor" | "page";
  /** To the server. An editor's goes through the extension host, which holds the token. */
  readonly transport: Transport;
  readonly launch: ReplLaunch;
  /** Keeps what the app wants to find again after a reload: JSON, at most 64 KiB. */
  saveState(state: unknown): void;
  /** Told which session the app shows, whenever it shows another one; empty: none yet. */
  showsSession(sessionId: string): void;
  /**
   * Applies what the user decided about a proposal, and tells the server: all kept hunks in one step, or nothing. Rejects
   * with an `Error` that says why nothing was written. undefined: the server applies it (`ApplyProposal`).
   */
  readonly applyProposal?: (review: ReviewToApply) => Promise<AppliedProposal>;
  /** Takes a change set back in the editor. undefined: the server does (`UndoChangeSet`). */
  readonly revertChangeSet?: (changeSetId: string) => Promise<void>;
  /** Shows a file of the workspace. The home resolves the path and refuses what is outside. */
  readonly openFile?: (path: string, line?: number) => Promise<void>;
  /** Shows a proposed change in the editor's own diff. */
  readonly openDiff?: (proposalId: string, changeId: string) => Promise<void>;
  /** What the user is looking at, to be offered as context of a prompt. */
  readonly editorContext?: () => Promise<EditorContext>;
  /** Runs one of the editor's own commands from the closed list below. */
  readonly runHomeCommand?: (command: HomeCommand) => Promise<void>;
  /** What the home asks of the app. Gives back how to stop listening. */
  onNotice(listener: (notice: HomeNotice) => void): () => void;
}

/** The commands of an editor that the app may offer as buttons. */
export const homeCommands = [
  "startServer",
  "showLog",
  "openSettings",
  "openScm",
  "selectIntent",
  "setUpBranch",
] as const;
export type HomeCommand = (typeof homeCommands)[number];

/** What the app begins with. */
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
  /** What `saveState` was last given. */
  readonly state: unknown;
  readonly settings: ReplSettings;
}

export interface ReplSettings {
  readonly showThinking: boolean;
  /** Empty: the server's default. */
  readonly backend: string;
  readonly model: string;
  readonly editingMode: EditingMode;
  readonly scenario: string;
}

export interface ReviewToApply extends Review {
  readonly sessionId: string;
}

export interface AppliedProposal {
  /** Workspace paths that were written or deleted. */
  readonly files: readonly string[];
}

export type HomeNotice =
  /** Show this session; undefined: begin a new one with the next prompt. */
  | { readonly type: "show-session"; readonly sessionId: string | undefined }
  /** Send this as the user's prompt, or only put it into the box. */
  | { readonly type: "prompt"; readonly text: string; readonly send: boolean }
  | { readonly type: "show-panel"; readonly panel: ReplPanel }
  | { readonly type: "settings"; readonly settings: ReplSettings }
  /** The way to the server was lost or came back; `message` says what to do. */
  | { readonly type: "server"; readonly state: "connected" | "unreachable" | "refused"; readonly message: string };

export const replPanels = [
  "chat",
  "review",
  "plan",
  "todos",
  "checkpoints",
  "timeline",
  "governance",
  "prompt",
] as const;
export type ReplPanel = (typeof replPanels)[number];
