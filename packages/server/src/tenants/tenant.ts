import type { ControlWatch } from "@gennai/machine/control-watch/control-watch";
import type { CommandLimits } from "@gennai/machine/process/group/command-limits";
import type { Sandbox } from "@gennai/machine/sandbox/sandbox";
import type { Stages } from "@gennai/machine/staged-shell/stages/stages";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import type { PlanAuthority } from "@gennai/sessions/plans/approval/plan-authority";
import type { Callers } from "@gennai/sessions/users/callers";
import type { LogAddress } from "@gennai/store/nats/stream/log-address";
import type { Admission } from "../admission/admission.ts";
import type { RpcOptions } from "../rpc/transport/rpc-handlers.ts";
import type { ServerWatch } from "../telemetry/server-watch.ts";
import type { ServerOptions } from "./server-options.ts";

/** What all tenants of a server share. None of it remembers anything of theirs. */
export interface ServerParts {
  readonly options: ServerOptions;
  readonly callers: Callers;
  readonly admission: Admission;
  /** Of all tenants. */
  readonly sessionsOpen: () => number;
  /** Where the operator's own configuration lies: rules, hooks, models, notes for all. */
  readonly configDir: string;
  /** What commands find in their environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** What each command may take of the machine; the usual limits for what is left out. */
  readonly commandLimits: Partial<CommandLimits>;
  readonly sandbox: Sandbox;
  /** Where commands are staged; absent: they run in the workspace. */
  readonly stages: Stages | undefined;
  readonly controlWatch: ControlWatch;
  /** Whether clients have to show who they are. */
  readonly authenticated: boolean;
  /** The log, and who measures. */
  readonly watch: ServerWatch;
  /** Throws `ServiceError` while the whole server starts no turns. */
  readonly assertTurnsMayStart: () => void;
}

/** Where one tenant's things are. */
export interface TenantDirectories {
  /** Empty on a server with one user. */
  readonly name: string;
  /** Private directory of its logs, blobs, ledger and keys; no other tenant's. */
  readonly stateDir: string;
  readonly sharedLog?: LogAddress;
  /** Under which each of its users has a directory. Real path; undefined on a server with one user. */
  readonly usersRoot?: string;
}

/** Sessions, ledgers, blobs, controls, keys and locks of one tenant, and the services over them. */
export interface Tenant extends AsyncDisposable {
  readonly name: string;
  readonly manager: SessionManager;
  readonly plans: PlanAuthority;
  /** Real path of the default workspace. */
  readonly workspace: string | undefined;
  /** False while another replica may have taken its sessions over. */
  readonly mayAct: boolean;
  /** False while its store is behind what was signed: it starts no turns then. */
  readonly isForward: boolean;
  /** What its RPCs are served with. Streams end when `shutdown` aborts. */
  rpcOptions(shutdown: AbortSignal): RpcOptions;
}
