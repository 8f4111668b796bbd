import type { HostNotice } from "@gennai/client/host/host-messages";
import type { AgentSession } from "@gennai/client/session/agent-session";
import type * as vscode from "vscode";
import type { ChangeSets } from "../apply/change-sets.ts";
import type { ProposalApplier } from "../apply/proposal-applier.ts";
import type { ContentDocuments } from "../documents/content-documents.ts";
import type { EditorFiles } from "../editor/files/editor-files.ts";
import type { AgentChanges } from "../git/agent-changes.ts";
import type { WindowBranch } from "../git/window-branch.ts";
import type { LineOrigins } from "../provenance/line-origins.ts";
import type { EditorReview } from "../review/editor-review.ts";
import type { UnseenChanges } from "../review/unseen-changes.ts";
import type { WindowReviews } from "../review/window-reviews.ts";
import type { ModelKeyStore } from "../server/model-key-store.ts";
import type { ServerConnection } from "../server/server-connection.ts";
import type { ServerLink } from "../server/server-link.ts";
import type { TokenStore } from "../server/token-store.ts";
import type { GovernanceFacts } from "../session/governance-facts.ts";
import type { StoredApprovals } from "../session/interceptors/plan-interceptor.ts";
import type { WindowClaim } from "../session/window-claim.ts";
import type { WorkspaceSession } from "../session/workspace-session.ts";
import type { GennaiSettings } from "../settings/settings.ts";
import type { SessionTree } from "../status/session-tree.ts";
import type { TimelineTree } from "../status/timeline-tree.ts";
import type { TodoTree } from "../status/todo-tree.ts";
import type { BackgroundTerminals } from "../terminal/background-terminals.ts";

/** What the commands work with: the parts of one window. */
export interface Workbench {
  readonly context: vscode.ExtensionContext;
  readonly log: vscode.LogOutputChannel;
  readonly version: string;
  /** Absolute path of the folder the sessions work on; empty: no folder is open. */
  readonly root: string;
  readonly settings: () => GennaiSettings;
  readonly link: ServerLink;
  readonly tokens: TokenStore;
  readonly modelKeys: ModelKeyStore;
  readonly sessions: WorkspaceSession;
  readonly views: ShownRepls;
  readonly reviews: WindowReviews;
  /** Shows in the editors what waits for review. */
  readonly review: EditorReview;
  readonly unseen: UnseenChanges;
  /** Shows who wrote each line in the editors. */
  readonly origins: LineOrigins;
  readonly files: EditorFiles;
  readonly documents: ContentDocuments;
  readonly todos: TodoTree;
  readonly timeline: TimelineTree;
  readonly sessionTree: SessionTree;
  /** Terminals that show background runs. */
  readonly background: BackgroundTerminals;
  readonly branch: WindowBranch;
  readonly agentChanges: AgentChanges;
  readonly changeSets: ChangeSets;
  readonly applier: ProposalApplier;
  readonly approvals: StoredApprovals;
  readonly claim: WindowClaim;
  readonly governance: () => GovernanceFacts;
  /** Connects to a server, which is started if the user wants it. Rejects with `NoServerError`. */
  connect(): Promise<ServerConnection>;
  /** Starts a server because the user asked for it. */
  startServer(): Promise<void>;
  /** The session of this workspace; opens one if there is none. */
  session(): Promise<AgentSession>;
  readGovernance(): Promise<void>;
}

/** The REPLs of the window. */
export interface ShownRepls {
  /** Asks the one that is seen. */
  ask(notice: HostNotice): void;
  /** Tells all. */
  notify(notice: HostNotice): void;
  openPanel(): void;
  reveal(): Promise<void>;
}

/** Implementation of a command. */
export type Command = (workbench: Workbench, args: readonly unknown[]) => Promise<void>;
