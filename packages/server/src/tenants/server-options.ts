import type { Outside } from "@gennai/egress/network/way-out";
import type { ServerLog } from "@gennai/machine/server-log";
import type { CommandsMode } from "@gennai/protocol/commands-mode";
import type { SessionSettings } from "@gennai/protocol/model/session/session-settings";
import type { PolicyFiles } from "@gennai/sessions/rules/managed-policy";
import type { AdmissionLimits } from "../admission/limits.ts";
import type { ListenAddress } from "../http/listen/listen-address.ts";
import type { TlsFiles } from "../http/listen/tls-files.ts";
import type { IssuerOptions } from "../identity/open-token-verifier.ts";

/** What a server is started with. */
export interface ServerOptions {
  readonly version: string;
  /** `in-process`: it listens nowhere; one user's server that only its own process calls, see `RunningServer.transport`. */
  readonly address: ListenAddress | { readonly type: "in-process" };
  /** What clients must send; undefined only with the user's `--no-auth`, with several users, and in-process. */
  readonly token: string | undefined;
  /** Makes it a server of many users, each known by a token of their own. */
  readonly users?: IssuerOptions & {
    /** Under which each user has a directory of their own to work in. */
    readonly workspaceRoot: string;
  };
  readonly limits?: AdmissionLimits;
  /** Encrypts connections. */
  readonly tls?: TlsFiles;
  /** Something before this server encrypts them. */
  readonly behindProxy?: boolean;
  /** Private directory of logs, blobs, ledger and keys. */
  readonly stateDir: string;
  /** A log in NATS that several servers share, see `parseLogAddress`; without it, the state directory holds everything. */
  readonly sharedLog?: string;
  /** Called when this server goes on only once it was closed and started again: its copy of the shared log is made anew then. */
  readonly onRestartNeeded?: () => void;
  /** Workspace of sessions that name none. */
  readonly workspace: string | undefined;
  readonly defaultSettings: SessionSettings;
  /** Further values of Host that mean this server, e.g. `box.lan:7777`. */
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
  readonly protectedBranches?: readonly string[];
  /** `auto` by default. */
  readonly commands?: CommandsMode;
  readonly confirmation?: { readonly answerMs?: number; readonly waitForClientMs: number };
  /** Networks that commands may be allowed to reach; default: those of this machine. */
  readonly outside?: Outside;
  /** Directory of the page's built files; undefined: no page is served. An empty one is served as "not built". */
  readonly pageDirectory?: string;
  /** Directory of the program's files, for comparison with another deployment; undefined if it runs from source. */
  readonly releaseDirectory?: string;
  /** A second door, for Prometheus, see `parseMetricsAddress`; none unless given. */
  readonly metricsAddress?: string;
  /** Announces the server to clients of the same user. */
  readonly announce: boolean;
  /** Announces the server for all workspaces of its user. */
  readonly shared?: boolean;
  /** Root's policies; those of this machine by default. */
  readonly policyFiles?: PolicyFiles;
  readonly log: ServerLog;
  /**
   * Environment variables used: model keys, `OTEL_…`, the user's configuration directory (`XDG_CONFIG_HOME`, `APPDATA`),
   * `GENNAI_POLICY`, and `${NAME}` in MCP configurations. Commands, hooks and MCP servers get what `commandEnvironment`
   * lets through.
   */
  readonly environment: Readonly<Record<string, string | undefined>>;
}
