import { homedir, platform } from "node:os";
import type { Interceptor, Transport } from "@connectrpc/connect";
import { userConfigDir } from "@gennai/machine/config/config-directory";
import { requireServerConfig } from "@gennai/machine/config/server-config";
import { prepareStateDirectory } from "@gennai/machine/config/state-directory";
import { commandEnvironment } from "@gennai/machine/process/command-environment";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import type { SessionPlans } from "@gennai/sessions/plans/session-plans";
import { openSandbox } from "@gennai/shell/open-sandbox";
import type { Sandbox } from "@gennai/stage/sandbox/sandbox";
import { parseLogAddress } from "@gennai/store/nats/log-address";
import { readTlsFiles } from "./http/listen/tls-files.ts";
import type { StagesUsed } from "./rpc/open-stages.ts";
import { parseMetricsAddress } from "./telemetry/export/telemetry-settings.ts";
import { openServerWatch } from "./telemetry/server-watch.ts";
import type { ServerOptions } from "./tenants/server-options.ts";
import type { Tenant } from "./tenants/tenant.ts";

export interface RunningServer extends AsyncDisposable {
  /** Empty if it listens nowhere. */
  readonly url: string;
  /** For clients in this process, where it listens nowhere. Throws `TypeError` where it listens. */
  transport(interceptors: Interceptor[]): Transport;
  /** undefined for a unix socket, and where it listens nowhere. */
  readonly port: number | undefined;
  readonly token: string | undefined;
  readonly sandbox: Sandbox;
  /** Whether commands of its workspace are staged. Tested on first use. */
  stagesUsed(): Promise<StagesUsed>;
  /** A fresh address that opens the page once; undefined when no page is served, and where there are many users. */
  pageLink(): string | undefined;
  /** URL of the metrics; undefined if not requested. */
  readonly metricsUrl: string | undefined;
  /**
   * From now on no turn starts, and who asks whether it is ready is told no. Resolves when no turn runs any more, or after
   * `timeoutMs` milliseconds: then it is time to dispose it.
   */
  drain(timeoutMs: number): Promise<void>;
  /**
   * Resolves when for so many milliseconds no client has called, no turn ran and nothing ran in the background. Rejects when
   * `signal` aborts.
   */
  idleFor(milliseconds: number, signal: AbortSignal): Promise<void>;
  /**
   * Reads the files of the certificate again, and uses it from the next connection on; nothing without one. Rejects with
   * `TlsError`: then the old one stays.
   */
  renewTls(): Promise<void>;
  /** Opened if it is not. A server with one user has one, whose name is empty. */
  tenant(name?: string): Promise<Tenant>;
  /** Real path of the default workspace. */
  readonly workspace: string | undefined;
  /** Sessions of the only user. Throws `TypeError` on a server with several users: each tenant has its own. */
  readonly manager: SessionManager;
  readonly plans: SessionPlans;
}

/** Loaded only where there are many users: it takes a library. */
async function openVerifier(users: NonNullable<ServerOptions["users"]>) {
  const { openTokenVerifier } = await import("./identity/open-token-verifier.ts");
  return openTokenVerifier(users);
}

/**
 * Starts the server. Rejects with `PortTakenError` or another `ExpectedError`; nothing is left running then, and for wrong
 * options nothing was done.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { token, users } = options;
  const tls = options.tls && (await readTlsFiles(options.tls));
  const verifier = users && (await openVerifier(users));
  const metricsAddress = options.metricsAddress === undefined ? undefined : parseMetricsAddress(options.metricsAddress);
  const sharedLog =
    options.sharedLog === undefined ? undefined : parseLogAddress(options.sharedLog, options.environment);
  await using parts = new AsyncDisposableStack();
  const watch = parts.use(
    await openServerWatch({
      version: options.version,
      log: options.log,
      environment: options.environment,
      metricsAsked: metricsAddress !== undefined,
      secrets: token === undefined ? [] : [token],
    }),
  );
  const stateDir = await prepareStateDirectory(options.stateDir);
  const configDir = userConfigDir(options.environment);
  const { commandLimits, commandVariables, commandsShow, mostStorageBytes, exports } =
    await requireServerConfig(configDir);
  const environment = commandEnvironment(options.environment, commandVariables);
  const opening = openSandbox({
    commands: options.commands ?? "auto",
    stateDir,
    environment,
    home: homedir(),
    platform: platform(),
    privateDirectories: [configDir],
    shown: commandsShow,
  });
  // The sandbox is tested by other programs; the rest of the server is loaded meanwhile.
  const loading = import("./compose-server.ts");
  const sandbox = parts.use(await opening);
  const { composeServer } = await loading;
  const files = { stateDir, configDir, mostStorageBytes, exports };
  const opened = { tls, verifier, metricsAddress, sharedLog, watch, ...files, commandLimits, environment };
  return await composeServer(options, { ...opened, sandbox, parts: parts.move() });
}
