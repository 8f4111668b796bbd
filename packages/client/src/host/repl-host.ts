import type { Transport } from "@connectrpc/connect";
import type { Backend } from "@gennai/protocol/model/session/backend";
import type { AppliedFile } from "@gennai/protocol/model/session/proposal";
import type { EditingMode } from "@gennai/protocol/model/session/session-settings";
import type { Review } from "../review/review.ts";
import type { ReviewState } from "../review/review-state.ts";
import type { EditorContext } from "../session/editor-context.ts";
import type { ModelTrial } from "../session/model-choices.ts";
import type { KeyToHand } from "../session/model-key.ts";

/**
 * The environment of the REPL app: a webview of an editor, or a page from the server. The app gets everything beyond its own
 * screen from here, and offers only what the host supports.
 */
export interface ReplHost {
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
  /**
   * Applies what the user decided about a proposal, and tells the server: all kept hunks in one step, or nothing. Rejects
   * with an `Error` that says why nothing was written. undefined: the server applies it (`ApplyProposal`).
   */
  readonly applyProposal?: (review: ReviewToApply) => Promise<AppliedProposal>;
  /** Takes a change set back in the editor. undefined: the server does (`UndoChangeSet`). */
  readonly revertChangeSet?: (changeSetId: string) => Promise<void>;
  /** Shows a file of the workspace. The host resolves the path and refuses what is outside. */
  readonly openFile?: (path: string, line?: number) => Promise<void>;
  /** Opens a rule's file at its line, or says where it is. @param place `file:line` from the server */
  readonly openRule?: (place: string) => Promise<void>;
  /** Shows a proposed change in the editor's own diff. */
  readonly openDiff?: (proposalId: string, changeId: string) => Promise<void>;
  /** Shows what a running call prints in a terminal, which can stop it. `afterSeq`: a place in the log before it printed. */
  readonly watchCall?: (call: CallToWatch) => Promise<void>;
  /** Shows what a call changed in a file in the editor's own diff. @param attemptsId where an attempt of these changed it */
  readonly openChange?: (
    file: Pick<AppliedFile, "path" | "beforeSha256" | "afterSha256">,
    attemptsId?: string,
  ) => Promise<void>;
  /** The user's present editor state, to offer as context of a prompt. */
  readonly editorContext?: () => Promise<EditorContext>;
  /** Workspace paths of files that were dropped, by their URIs; what is not a file of the workspace is left out. */
  readonly namesOfDropped?: (uris: readonly string[]) => Promise<readonly string[]>;
  /** Keeps the model that was chosen, for sessions to come. */
  keepModel(choice: ChosenModel): Promise<void>;
  /** Keeps a provider's key for its user, and hands it to the server. undefined: the server alone gets it. */
  readonly keepModelKey?: (key: KeyToHand) => Promise<void>;
  /** Models that other extensions of the editor offer. undefined: there is no editor. */
  readonly editorModels?: EditorModels;
  /** Runs one of the editor's own commands, from the fixed list below. */
  readonly runHostCommand?: (command: HostCommand) => Promise<void>;
  /** Listens to notices from the host. Returns a function that stops listening. */
  onNotice(listener: (notice: HostNotice) => void): () => void;
}

export interface ChosenModel {
  readonly backend: Backend;
  /** Empty: the backend has one alone, or decides. */
  readonly model: string;
  /** Address of the user's own server; empty: the provider's default. */
  readonly baseUrl: string;
}

export interface EditorModels {
  list(): Promise<readonly EditorModel[]>;
  /** Makes one small real call; the editor may ask its user first. */
  try(model: string): Promise<ModelTrial>;
}

export interface EditorModel {
  /** As in the settings: vendor, slash, id. */
  readonly model: string;
  readonly contextTokens: number;
}

/** The commands of an editor that the app may offer as buttons. */
export const hostCommands = [
  "startServer",
  "showLog",
  "openSettings",
  "openScm",
  "selectIntent",
  "setUpBranch",
  "setToken",
  "openFolder",
  "chooseFolder",
  "takeOver",
  "showAllChanges",
] as const;
export type HostCommand = (typeof hostCommands)[number];

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

export interface CallToWatch {
  readonly turnId: string;
  readonly callId: string;
  readonly afterSeq: bigint;
  /** The running command, as text for users. */
  readonly command: string;
}

export interface ReviewToApply extends Review {
  readonly sessionId: string;
}

export interface AppliedProposal {
  /** Workspace paths that were written or deleted. */
  readonly files: readonly string[];
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
  "plan",
  "todos",
  "attempts",
  "checkpoints",
  "timeline",
  "governance",
  "prompt",
] as const;
export type ReplPanel = (typeof replPanels)[number];
