import type { Model } from "@gennai/agent/model";
import type { UserKeys } from "@gennai/egress/keys/login/user-keys";
import type { CommandLimits } from "@gennai/machine/process/command-limits";
import type { LearningRedactor } from "@gennai/machine/redaction/redactor";
import type { SearchProviderName } from "@gennai/machine/web/search-providers";
import type { WebConfig } from "@gennai/machine/web/web-config";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import type { AskEditor } from "@gennai/models/editor-model";
import type { ClientWorkspaceFacts } from "@gennai/protocol/model/session/client-workspace";
import type { SessionSettings } from "@gennai/protocol/model/session/session-settings";
import type { Stages } from "@gennai/shell/stages/stages";
import type { WorkspaceCheckpoints } from "@gennai/store/checkpoints/workspace-checkpoints";
import type { BlobStore } from "@gennai/store/log/session-log";
import type { Elsewhere } from "../bridge/elsewhere.ts";
import type { Approvals } from "../bridge/second-person.ts";
import type { WorkspaceChannel } from "../bridge/workspace-answer.ts";
import type { McpServers } from "../mcp/mcp-servers.ts";
import type { EmergencyControls } from "../rules/emergency-controls.ts";
import type { LoadedLimits } from "../rules/load-limits.ts";
import type { AcceptedChecks, AcceptedConnections } from "../rules/workspace-answers.ts";
import type { LoadedHooks } from "../rules/workspace-hooks.ts";
import type { Callers } from "./identity.ts";
import type { LogServices } from "./owned-log.ts";
import type { ServerObserver } from "./server-observer.ts";
import type { TurnServices } from "./session-turns.ts";
import type { UserWorkspaces } from "./user-workspaces.ts";
import type { WorkspaceGovernance } from "./workspace-governance.ts";

/** How much of the server a user's sessions may use. */
export interface SessionAdmission {
  /** Dispose when the turn has ended. Throws `ServiceError` `resource_exhausted`. */
  turn(user: string): Disposable;
  /** Maximum open sessions. */
  readonly sessionsPerUser: number;
  /** Maximum milliseconds in total that a turn waits for a working tree that another session writes to. */
  readonly treeWaitMs: number;
  /** Whether the server as a whole has room for another open session. */
  hasRoomForSession(): boolean;
  /** Throws `ServiceError` `resource_exhausted` if the disk is too full to start anything new. */
  assertRoomForNew(): void;
}

/** What sessions are built from. `open-tenant.ts` composes it. */
export interface SessionServices extends LogServices, TurnServices {
  readonly blobs: BlobStore;
  readonly redactor: LearningRedactor;
  /** Measures turns, calls and requests to clients. */
  readonly observer: Pick<ServerObserver, "gate" | "turn" | "subAgent" | "bridge">;
  /** On whose behalf code runs. */
  readonly callers: Callers;
  readonly admission: SessionAdmission;
  /** Where each user may work; undefined on a server with one user, who may work anywhere. */
  readonly userWorkspaces?: UserWorkspaces;
  /** The same object for the same root. Throws `ServiceError` for a directory that cannot be one. */
  openWorkspace(directory: string): Promise<Workspace>;
  /** The workspace of a session whose files a client holds, reached through that session's requests. */
  openClientWorkspace(
    facts: ClientWorkspaceFacts,
    of: { readonly sessionId: string; readonly user: string; readonly channel: WorkspaceChannel },
  ): Workspace;
  /** Call it when the session is closed: releases what was kept for its workspace. A reopened session gets a new one. */
  closeClientWorkspace(workspace: Workspace, sessionId: string): void;
  /**
   * Throws `ModelError`.
   * @param options.askEditor how a turn asks the attached editor's model; without it that model only describes itself
   */
  createModel(settings: SessionSettings, options?: { readonly askEditor?: AskEditor }): Promise<Model>;
  readonly emergency: Pick<EmergencyControls, "current" | "standingCheck" | "assertTurnsMayStart">;
  /** The limits in force, apart from the emergency controls; loaded anew for every turn. */
  loadLimits(): Promise<LoadedLimits>;
  /** Rules and intents of a workspace. */
  governanceOf(workspace: Workspace): Promise<WorkspaceGovernance>;
  /** The same object for the same root. */
  checkpointsOf(workspace: Pick<Workspace, "root">): WorkspaceCheckpoints;
  /** External tools, behind the same gate. */
  readonly mcp: Pick<McpServers, "tools">;
  /** What the user lets the agent fetch from the web. */
  loadWeb(): Promise<WebConfig>;
  /** Key for a web search provider; undefined if there is none. */
  searchKey(provider: SearchProviderName): Promise<string | undefined>;
  /** Users' external hooks. */
  loadHooks(workspaceRoot: string): Promise<LoadedHooks>;
  /** The project's checks that a user accepted for all sessions. */
  acceptedChecks(workspace: Pick<Workspace, "place">): AcceptedChecks;
  /** What users allowed programs to reach in all sessions. */
  acceptedConnections(workspace: Pick<Workspace, "place">): AcceptedConnections;
  /** Directory of the user's own notes and skills, and other configuration. Absolute. */
  readonly configDir: string;
  /** Absolute paths of the server's own state and configuration, which no agent may touch. */
  readonly ownDirectories: readonly string[];
  /** Stages for commands; absent: they run in the workspace. */
  readonly stages?: Stages | undefined;
  /** By what commands are kept apart, or why they are not. */
  readonly isolationReason: string;
  readonly defaultSettings: SessionSettings;
  readonly confirmation: {
    /** Maximum milliseconds for an attached client to answer a question, whatever its session says. */
    readonly answerMs?: number;
    /** Milliseconds a question waits for a client that can answer. */
    readonly waitForClientMs: number;
  };
  /** Asks people who sit at no client; undefined: nobody is. */
  readonly elsewhere?: Elsewhere | undefined;
  /** Asks a second person where a policy wants two; undefined: nobody can be asked. */
  readonly secondPerson?: Approvals | undefined;
  /** Globs of further protected branches: of options, and of policies in force. */
  protectedBranches(): Promise<readonly string[]>;
  readonly home: string;
  /** Logins that a user may make available for one run; undefined on a server with several users. */
  readonly userKeys?: UserKeys | undefined;
  /** Environment of commands. */
  readonly commandEnvironment: Readonly<Record<string, string>>;
  /** Resource limits of each command; defaults for missing ones. */
  readonly commandLimits: Partial<CommandLimits>;
}
