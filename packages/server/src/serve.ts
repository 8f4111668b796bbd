import { homedir, platform } from "node:os";
import type { Interceptor, Transport } from "@connectrpc/connect";
import { userConfigDir } from "@gennai/machine/config/config-directory";
import { requireServerConfig } from "@gennai/machine/config/server-config";
import { prepareStateDirectory } from "@gennai/machine/config/state-directory";
import { ControlWatch } from "@gennai/machine/control-watch/control-watch";
import { describeRecovered } from "@gennai/machine/control-watch/put-back/put-back";
import { warnOfUnsandboxedGit } from "@gennai/machine/git/run/git-isolation";
import { commandEnvironment } from "@gennai/machine/process/environment/command-environment";
import type { Sandbox } from "@gennai/machine/sandbox/sandbox";
import { openSandbox } from "@gennai/machine/shell/open-sandbox";
import { rpcPaths } from "@gennai/protocol/rpc-services";
import { challengePath } from "@gennai/protocol/server-proof";
import { protocolVersion } from "@gennai/protocol/spoken-protocol";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import type { PlanAuthority } from "@gennai/sessions/plans/approval/plan-authority";
import { Callers } from "@gennai/sessions/users/callers";
import { oneUser } from "@gennai/sessions/users/identity";
import { openLedgerSigner } from "@gennai/store/ledger/keys/ledger-key";
import { parseLogAddress } from "@gennai/store/nats/stream/log-address";
import { Admission } from "./admission/admission.ts";
import { defaultLimits } from "./admission/limits.ts";
import { Draining } from "./draining.ts";
import { openGuardDoor } from "./http/listen/guard-door.ts";
import { listenHttp } from "./http/listen/http-server.ts";
import { readTlsFiles } from "./http/listen/tls-files.ts";
import { type RouteTable, rpcRoutes } from "./http/route.ts";
import { challengeRoute } from "./http/routes/challenge-route.ts";
import { writeDiscovery } from "./http/routes/discovery.ts";
import { HEALTH_PATH, healthRoute } from "./http/routes/health-route.ts";
import { type NotReady, probeRoutes } from "./http/routes/probe-routes.ts";
import { reportedVerifier } from "./identity/reported-verifier.ts";
import { openUsersRoot } from "./identity/users-root.ts";
import { warnOfUsers } from "./identity/warn-of-users.ts";
import { Idleness } from "./idleness.ts";
import { openStages, type StagesUsed, stagesUsed } from "./open-stages.ts";
import { readPageFiles } from "./page/page-files.ts";
import { openPageDoor } from "./page/page-routes.ts";
import { PageTokens } from "./page/page-tokens.ts";
import { shutdownError } from "./rpc/errors/shutdown-error.ts";
import { serveInProcess } from "./rpc/transport/rpc-in-process.ts";
import { tenantRpc } from "./rpc/transport/tenant-rpc.ts";
import { listenForMetrics, parseMetricsAddress } from "./telemetry/export/metrics-listener.ts";
import { openServerWatch } from "./telemetry/server-watch.ts";
import type { ServerOptions } from "./tenants/server-options.ts";
import { ServerTenants } from "./tenants/server-tenants.ts";
import type { Tenant } from "./tenants/tenant.ts";

export interface RunningServer extends AsyncDisposable {
  /** Of one that listens nowhere, no URL. */
  readonly url: string;
  /** For clients in this process, where it listens nowhere. Throws `TypeError` where it listens. */
  transport(interceptors: Interceptor[]): Transport;
  /** undefined for a unix socket, and where it listens nowhere. */
  readonly port: number | undefined;
  /** Where clients of the RinaWarp protocol come in; undefined when that is off. */
  readonly rinaUrl: string | undefined;
  readonly token: string | undefined;
  readonly sandbox: Sandbox;
  /** Whether commands of its workspace are staged. Tried when it is first asked for. */
  stagesUsed(): Promise<StagesUsed>;
  /** A fresh address that opens the page once; undefined when no page is served, and where there are many users. */
  pageLink(): string | undefined;
  /** Where the metrics are; undefined when nobody asked for them. */
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
  /** Of the one user. Throws `TypeError` where there are many: each tenant has its own. */
  readonly manager: SessionManager;
  readonly plans: PlanAuthority;
}

/** Pages of one user that may be open at once. */
const maxPages = 64;

/** Loaded only where there are many users: it takes a library. */
async function openVerifier(users: NonNullable<ServerOptions["users"]>) {
  const { openTokenVerifier } = await import("./identity/open-token-verifier.ts");
  return openTokenVerifier(users);
}

/**
 * Composes and starts the server. With `openTenant` it alone knows all of its parts. Rejects with `PortTakenError`
 * or another `ExpectedError`; nothing is left running then, and for wrong options nothing was done.
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
  const { log, observer } = watch;
  const draining = new Draining();
  const idleness = new Idleness();
  const stateDir = await prepareStateDirectory(options.stateDir);
  const configDir = userConfigDir(options.environment);
  const { commandLimits } = await requireServerConfig(configDir);
  const environment = commandEnvironment(options.environment);
  const sandbox = parts.use(
    await openSandbox({
      mode: options.sandbox ?? "auto",
      stateDir,
      environment,
      home: homedir(),
      platform: platform(),
      privateDirectories: [configDir],
    }),
  );
  const stages = parts.use(
    await openStages(sandbox, {
      mode: options.stages ?? "auto",
      stateDir,
      home: homedir(),
      log,
      outside: options.outside,
    }),
  );
  const { watch: controlWatch, recovered } = ControlWatch.open({ stateDir, home: homedir() });
  parts.use(controlWatch);
  for (const each of recovered) log.warn(describeRecovered(each));
  if (sandbox.state === "unsandboxed") log.warn(`Commands run without a sandbox: ${sandbox.reason}.`);
  // Not waited for: a git that does not answer keeps nobody from starting.
  else void warnOfUnsandboxedGit(log);
  const usersRoot = users && openUsersRoot(users.workspaceRoot, { stateDir, configDir, environment });
  // There from the beginning: other servers of a shared log need a copy before their own start.
  if (users !== undefined) await openLedgerSigner(stateDir);
  const named = options.environment["GENNAI_CAPABILITIES"] || undefined;
  // Not waited for: an issuer that is away for a moment keeps no server from starting.
  if (verifier !== undefined) void warnOfUsers(verifier, { named, configDir, stateDir }, log);
  const admission = new Admission(options.limits ?? defaultLimits);
  const callers = new Callers();
  // Anyone who calls from this process was handed the way to it.
  const authenticated = token !== undefined || users !== undefined || options.address.type === "in-process";
  const tenants = parts.use(
    await ServerTenants.open(
      {
        options,
        callers,
        admission,
        configDir,
        environment,
        commandLimits,
        sandbox,
        stages,
        controlWatch,
        authenticated,
        watch,
        assertTurnsMayStart: () => draining.assertTurnsMayStart(),
      },
      { stateDir, usersRoot, sharedLog },
    ),
  );
  const { only } = tenants;
  const theOnly = (): Tenant => {
    if (only === undefined) throw new TypeError("This server has many users: ask for a tenant.");
    return only;
  };

  const notReady = (): NotReady => {
    if (draining.begun) return "draining";
    if (!tenants.mayAct) return "no_contact_with_log";
    // One of many must not keep the others out.
    return only?.isForward === false ? "ledger_rolled_back" : undefined;
  };
  watch.telemetry?.watchLoad(async () => ({ ...(await tenants.load()), ready: notReady() === undefined }));

  const pages = new PageTokens({ limit: maxPages });
  const scheme = tls !== undefined || options.behindProxy === true ? "https" : "http";
  const pageDoor =
    options.pageDirectory === undefined
      ? undefined
      : openPageDoor({
          files: await readPageFiles(options.pageDirectory),
          facts: { version: options.version, authenticated },
          tokens: pages,
          scheme,
        });
  let routeTable: RouteTable = new Map();
  const { address } = options;
  const inProcess = address.type === "in-process" ? parts.use(serveInProcess(theOnly().rpcOptions)) : undefined;
  const listener =
    address.type === "in-process"
      ? undefined
      : parts.use(
          await listenHttp({
            address,
            token,
            pages,
            ...(verifier === undefined ? {} : { judge: reportedVerifier(verifier, log) }),
            ...(tls === undefined ? {} : { tls }),
            behindProxy: options.behindProxy ?? false,
            allowedHosts: options.allowedHosts ?? [],
            allowedOrigins: options.allowedOrigins ?? [],
            onRefused: (status) => observer.refused(status),
            isLeaving: () => draining.begun,
            shutdownError,
            routes: ({ shutdown }) => {
              const health = () => ({
                status: "ok",
                version: options.version,
                protocolVersion,
                isolation: sandbox.state,
                isolationReason: sandbox.reason,
                stages: stages?.mode ?? "off",
                workspace: only?.workspace,
              });
              routeTable = new Map([
                ...rpcRoutes(rpcPaths, idleness.watched(tenantRpc(tenants, { shutdown, log }))),
                [HEALTH_PATH, healthRoute(health)],
                ...probeRoutes(notReady, () => tenants.rolledBack),
                ...(pageDoor?.routes ?? []),
                ...(token === undefined ? [] : ([[challengePath, challengeRoute(token)]] as const)),
              ]);
              return routeTable;
            },
          }),
        );
  const rina =
    options.rinaPort === undefined || only === undefined
      ? undefined
      : parts.use(
          // Loaded only for those who still use it.
          await (await import("./rina/open-rina.ts")).openRina({
            port: options.rinaPort,
            version: options.version,
            plans: only.plans,
            manager: only.manager,
            report: (error) => log.error("A request of the RinaWarp port failed unexpectedly.", error),
          }),
        );
  if (options.announce && token !== undefined && listener !== undefined) {
    const { url } = listener;
    const door = await openGuardDoor(stateDir, { url, pid: process.pid }, { token, routes: routeTable, log });
    if (door !== undefined) parts.use(door);
    parts.use(
      await writeDiscovery(stateDir, {
        url,
        token,
        pid: process.pid,
        version: options.version,
        workspace: only?.workspace ?? "",
        ...(options.shared === true
          ? {
              shared: {
                sandbox: options.sandbox ?? "auto",
                stages: options.stages ?? "auto",
                protectedBranches: options.protectedBranches ?? [],
              },
            }
          : {}),
        startedAt: Date.now(),
      }),
    );
  }
  const metrics =
    metricsAddress === undefined || watch.telemetry === undefined
      ? undefined
      : parts.use(await listenForMetrics(metricsAddress, watch.telemetry.prometheusText));
  await watch.flush();
  const running = parts.move();
  return {
    url: listener?.url ?? "",
    transport: (interceptors) => {
      if (inProcess === undefined) throw new TypeError("This server is reached at its URL.");
      return inProcess.transport(interceptors);
    },
    metricsUrl: metrics?.url,
    drain: async (timeoutMs) => draining.begin(async () => (await tenants.load()).turnsRunning, timeoutMs),
    idleFor: (milliseconds, signal) => {
      const isBusy = async (): Promise<boolean> => {
        const { turnsRunning, backgroundRuns } = await tenants.load();
        return turnsRunning + backgroundRuns > 0;
      };
      return idleness.lasts(milliseconds, isBusy, signal);
    },
    port: listener?.port,
    rinaUrl: rina?.url,
    token,
    sandbox,
    stagesUsed: () => stagesUsed(stages, only?.workspace),
    // Whom it would be for, on a server with many users, only they can say: `gennai open` with their token.
    pageLink: () =>
      users === undefined
        ? pageDoor && `${listener?.url}/${token === undefined ? "" : `#${pageDoor.issueCode(oneUser)}`}`
        : undefined,
    tenant: (name = "") => tenants.of(name),
    workspace: only?.workspace,
    get manager() {
      return theOnly().manager;
    },
    get plans() {
      return theOnly().plans;
    },
    renewTls: async () => {
      if (options.tls !== undefined) listener?.renewTls(await readTlsFiles(options.tls));
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
