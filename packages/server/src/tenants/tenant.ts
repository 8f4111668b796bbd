import type { ExportDestination } from "@gennai/governance/limits/export-schema";
import type { CommandLimits } from "@gennai/machine/process/command-limits";
import type { Elsewhere } from "@gennai/sessions/bridge/elsewhere";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import type { SessionPlans } from "@gennai/sessions/plans/session-plans";
import type { Callers } from "@gennai/sessions/session/identity";
import type { Stages } from "@gennai/shell/stages/stages";
import type { LogAddress } from "@gennai/store/nats/log-address";
import type { Admission } from "../admission/admission.ts";
import type { RpcOptions } from "../rpc/transport/rpc-handlers.ts";
import type { ServerWatch } from "../telemetry/server-watch.ts";
import type { ServerOptions } from "./server-options.ts";

/** What all tenants of a server share. It stores nothing of any tenant. */
export interface ServerParts {
  readonly options: ServerOptions;
  readonly callers: Callers;
  readonly admission: Admission;
  /** Open sessions of all tenants. */
  readonly sessionsOpen: () => number;
  /** Directory of the operator's own configuration: rules, hooks, models, notes for all. */
  readonly configDir: string;
  /** Environment of commands. */
  readonly environment: Readonly<Record<string, string>>;
  /** Resource limits of each command; defaults for missing ones. */
  readonly commandLimits: Partial<CommandLimits>;
  /** Where the user wants records to be sent. */
  readonly exports: readonly ExportDestination[];
  /** Stages for commands; absent: they run in the workspace. */
  readonly stages: Stages | undefined;
  /** By what commands are kept apart, or why they are not. */
  readonly isolationReason: string;
  /** Whether clients must authenticate. */
  readonly authenticated: boolean;
  /** Asks people who sit at no client; undefined: nobody is. */
  readonly elsewhere: Elsewhere | undefined;
  /** The log, and who measures. */
  readonly watch: ServerWatch;
  /** Throws `ServiceError` while the whole server starts no turns. */
  readonly assertTurnsMayStart: () => void;
}

/** Directories of one tenant. */
export interface TenantDirectories {
  /** Empty on a server with one user. */
  readonly name: string;
  /** Private directory of its logs, blobs, ledger and keys. */
  readonly stateDir: string;
  readonly sharedLog?: LogAddress | undefined;
  /** Contains a directory for each of its users. Real path; undefined on a server with one user. */
  readonly usersRoot?: string;
}

/** Sessions, ledgers, blobs, controls, keys and locks of one tenant, and the services over them. */
export interface Tenant extends AsyncDisposable {
  readonly name: string;
  readonly stateDir: string;
  readonly manager: SessionManager;
  readonly plans: SessionPlans;
  /** Real path of the default workspace. */
  readonly workspace: string | undefined;
  /** False while another replica may have taken its sessions over. */
  readonly mayAct: boolean;
  /** False while its store is behind what was signed: it starts no turns then. */
  readonly isForward: boolean;
  /** Options for its RPCs. Streams end when `shutdown` aborts. */
  rpcOptions(shutdown: AbortSignal): RpcOptions;
}
