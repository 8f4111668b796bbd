import type { Model } from "@gennai/agent/model";
import type { Scenario } from "@gennai/agent/scenarios/scenario";
import type { ControlWatch } from "@gennai/machine/control-watch/control-watch";
import type { UserKeys } from "@gennai/machine/keys/login/user-keys";
import type { CommandLimits } from "@gennai/machine/process/group/command-limits";
import type { ProcessLocks } from "@gennai/machine/process/locks/process-lock";
import type { LearningRedactor } from "@gennai/machine/redaction/redactor";
import type { Sandbox } from "@gennai/machine/sandbox/sandbox";
import type { Stages } from "@gennai/machine/staged-shell/stages/stages";
import type { SearchProviderName } from "@gennai/machine/web/search-providers";
import type { WebConfig } from "@gennai/machine/web/web-config";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import type { AskEditor } from "@gennai/models/editor-model";
import type { KnownModels } from "@gennai/models/facts/model-facts";
import type { ClientWorkspaceFacts } from "@gennai/protocol/model/editor/client-workspace";
import type { SessionSettings } from "@gennai/protocol/model/session/session-settings";
import type { WorkspaceCheckpoints } from "@gennai/store/checkpoints/workspace-checkpoints";
import type { BlobStore, SessionLog } from "@gennai/store/log/session-log";
import type { WorkspaceChannel } from "../bridge/workspace-answer.ts";
import type { LoadedCapabilities } from "../capabilities/load-capabilities.ts";
import type { AcceptedChecks } from "../checks/accepted-checks.ts";
import type { AcceptedConnections } from "../checks/accepted-connections.ts";
import type { EmergencyControls } from "../emergency/emergency-controls.ts";
import type { LoadedHooks } from "../hooks/workspace-hooks.ts";
import type { McpServers } from "../mcp/mcp-servers.ts";
import type { ServerObserver } from "../observer/server-observer.ts";
import type { Callers } from "../users/callers.ts";
import type { UserWorkspaces } from "../users/user-workspaces.ts";
import type { SessionOwnership } from "./log/session-ownership.ts";
import type { WorkspaceGovernance } from "./workspace-governance.ts";

/** How much of the server a user's sessions may take. */
export interface SessionAdmission {
  /** Dispose when the turn has ended. Throws `ServiceError` `resource_exhausted`. */
  turn(user: string): Disposable;
  /** That are open. */
  readonly sessionsPerUser: number;
  /** Milliseconds for which a turn waits in line, in all, for a working tree that another session writes to. */
  readonly treeWaitMs: number;
  /** Whether the server as a whole has room for another open session. */
  hasRoomForSession(): boolean;
  /** Throws `ServiceError` `resource_exhausted` while nothing new may begin, for want of disk. */
  assertRoomForNew(): void;
}

/** What sessions are built from. `open-tenant.ts` composes it. */
export interface SessionServices {
  readonly log: SessionLog;
  readonly blobs: BlobStore;
  readonly locks: ProcessLocks;
  /** Which of several servers with one log a session belongs to; without it, all of them run on this machine's store. */
  readonly ownership?: SessionOwnership;
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
  /** The session is closed: what was kept for its workspace is let go. Opened again, the session gets a new one. */
  closeClientWorkspace(workspace: Workspace, sessionId: string): void;
  /**
   * Throws `ModelError`.
   * @param options.askEditor how a turn asks the model of the attached editor; without it that model only says what it is
   */
  createModel(settings: SessionSettings, options?: { readonly askEditor?: AskEditor }): Promise<Model>;
  /** Prices, sizes and abilities of models, by the user's file and the catalogue. */
  loadModelFacts(): Promise<KnownModels>;
  loadScenarios(
    root: string,
  ): Promise<{ readonly scenarios: ReadonlyMap<string, Scenario>; readonly warnings: readonly string[] }>;
  readonly emergency: Pick<EmergencyControls, "current" | "standingCheck" | "assertTurnsMayStart">;
  /** The capability profile in force; loaded anew for every turn. */
  loadCapabilities(): Promise<LoadedCapabilities>;
  /** Rules and intents of a workspace. */
  governanceOf(workspace: Workspace): Promise<WorkspaceGovernance>;
  /** The same object for the same root. */
  checkpointsOf(workspace: Pick<Workspace, "root">): WorkspaceCheckpoints;
  /** Tools of others, behind the same gate. */
  readonly mcp: Pick<McpServers, "tools">;
  /** What the user lets the agent fetch from the web. */
  loadWeb(): Promise<WebConfig>;
  /** Key of a provider of web search; undefined when nobody has it. */
  searchKey(provider: SearchProviderName): Promise<string | undefined>;
  /** Users' external hooks. */
  loadHooks(workspaceRoot: string): Promise<LoadedHooks>;
  /** The project's checks that a person accepted for all sessions. */
  acceptedChecks(workspace: Pick<Workspace, "place">): AcceptedChecks;
  /** What a person let programs reach in all sessions. */
  acceptedConnections(workspace: Pick<Workspace, "place">): AcceptedConnections;
  /** Where the user's own notes and skills lie, with the rest of their configuration. Absolute. */
  readonly configDir: string;
  /** Absolute paths of the server's own state and configuration, which no agent touches wherever they lie. */
  readonly ownDirectories: readonly string[];
  /** Gets errors nobody expected, whole; clients get none of their text. */
  onUnexpectedError(error: unknown): void;
  readonly isolation: "sandboxed" | "unsandboxed";
  /** Where commands run, and why so. */
  readonly sandbox: Sandbox;
  /** Where commands are staged; absent: they run in the workspace. */
  readonly stages?: Stages | undefined;
  readonly controlWatch: ControlWatch;
  readonly defaultSettings: SessionSettings;
  readonly confirmation: {
    /** Milliseconds an attached client has at most to answer a question, whatever its session says. */
    readonly answerMs?: number;
    /** Milliseconds a question waits for a client that can answer. */
    readonly waitForClientMs: number;
  };
  /** Extra branches nobody writes on, as globs. */
  readonly protectedBranches: readonly string[];
  readonly home: string;
  /** Whose logins a person may uncover for one run; undefined on a server that many users share. */
  readonly userKeys?: UserKeys | undefined;
  /** What commands find in their environment. */
  readonly commandEnvironment: Readonly<Record<string, string>>;
  /** What each of them may take of the machine; the usual limits for what is left out. */
  readonly commandLimits: Partial<CommandLimits>;
  readonly platform: string;
  readonly now: () => number;
}
