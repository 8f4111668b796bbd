import { homedir, platform } from "node:os";
import type { SessionSettings } from "@gennai/agent/session-settings";
import { Admission } from "./admission/admission.ts";
import { type AdmissionLimits, defaultLimits } from "./admission/limits.ts";
import { userConfigDir } from "./config/config-directory.ts";
import { Draining } from "./draining.ts";
import { Allowance } from "./http/allowance.ts";
import { writeDiscovery } from "./http/discovery.ts";
import { HEALTH_PATH, healthRoute } from "./http/health-route.ts";
import { sendError } from "./http/http-response.ts";
import { listenHttp } from "./http/http-server.ts";
import type { ListenAddress } from "./http/listen-address.ts";
import { type NotReady, probeRoutes } from "./http/probe-routes.ts";
import { type Route, rpcRoutes } from "./http/route.ts";
import { CHALLENGE_PATH, challengeRoute } from "./http/server-proof.ts";
import type { TlsIdentity } from "./http/tls-files.ts";
import { Callers } from "./identity/callers.ts";
import { oneUser } from "./identity/identity.ts";
import { Tenants } from "./identity/tenants.ts";
import type { TokenJudgement, TokenVerifier } from "./identity/token-verifier.ts";
import { openUsersRoot } from "./identity/users-root.ts";
import type { LogAddress } from "./nats/log-address.ts";
import { openTenant, type ServerParts, type Tenant, type TenantPlace } from "./open-tenant.ts";
import { readPageFiles } from "./page/page-files.ts";
import { openPageDoor } from "./page/page-routes.ts";
import { PageTokens } from "./page/page-tokens.ts";
import type { PlanAuthority } from "./plans/plan-authority.ts";
import { commandEnvironment } from "./process/command-environment.ts";
import { openRina } from "./rina/open-rina.ts";
import { goodbye } from "./rpc/goodbye.ts";
import { rpcPaths } from "./rpc/rpc-services.ts";
import { protocolVersion } from "./rpc/spoken-protocol.ts";
import { openSandbox } from "./sandbox/open-sandbox.ts";
import type { Sandbox, SandboxMode } from "./sandbox/sandbox.ts";
import type { ServerLog } from "./server-log.ts";
import type { SessionManager } from "./sessions/session-manager.ts";
import { openLedgerSigner } from "./store/ledger/ledger-key.ts";
import { prepareStateDirectory } from "./store/state-directory.ts";
import { listenForMetrics } from "./telemetry/metrics-listener.ts";
import type { ServerLoad } from "./telemetry/server-load.ts";
import { openServerWatch } from "./telemetry/server-watch.ts";

export interface ServerOptions {
  readonly version: string;
  readonly address: ListenAddress;
  /** What clients must send; undefined only by the user's `--no-auth`, and where there are many users. */
  readonly token: string | undefined;
  /** Makes it a server of many users, each known by a token of their own. */
  readonly users?: {
    readonly verifier: TokenVerifier;
    /** Under which each user has a directory of their own to work in. */
    readonly workspaceRoot: string;
  };
  readonly limits?: AdmissionLimits;
  /** Encrypts connections. */
  readonly tls?: TlsIdentity;
  /** Something before this server encrypts them. */
  readonly behindProxy?: boolean;
  /** Private directory of logs, blobs, ledger and keys. */
  readonly stateDir: string;
  /** A log in NATS that several servers share; without it, the state directory holds everything. */
  readonly sharedLog?: LogAddress;
  /** Workspace of sessions that name none. */
  readonly workspace: string | undefined;
  readonly defaultSettings: SessionSettings;
  /** Further values of Host that mean this server, e.g. `box.lan:7777`. */
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
  readonly protectedBranches?: readonly string[];
  /** Whether commands run in a sandbox; `auto` by default. */
  readonly sandbox?: SandboxMode;
  readonly confirmation?: { readonly answerMs: number; readonly waitForClientMs: number };
  /** A second port on 127.0.0.1 for clients of the RinaWarp protocol, which send no token; none unless given. 0: any free one. */
  readonly rinaPort?: number;
  /** Where the built files of the page lie; undefined: no page is served. An empty one is served as "not built". */
  readonly pageDirectory?: string;
  /** Where the program's files lie, to be compared with another deployment's; undefined where it runs from source. */
  readonly releaseDirectory?: string;
  /** A second door, for Prometheus; none unless given. */
  readonly metricsAddress?: ListenAddress & { readonly type: "tcp" };
  /** Announces the server to clients of the same user. */
  readonly announce: boolean;
  readonly log: ServerLog;
  /** Where models find their keys; the server takes nothing else from it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface RunningServer extends AsyncDisposable {
  readonly url: string;
  /** undefined for a unix socket. */
  readonly port: number | undefined;
  /** Where clients of the RinaWarp protocol come in; undefined when that is off. */
  readonly rinaUrl: string | undefined;
  readonly token: string | undefined;
  readonly sandbox: Sandbox;
  /** A fresh address that opens the page once; undefined when no page is served, and where there are many users. */
  pageLink(): string | undefined;
  /** Where the metrics are; undefined when nobody asked for them. */
  readonly metricsUrl: string | undefined;
  /**
   * From now on no turn starts, and who asks whether it is ready is told no. Resolves when no turn runs any more, or after
   * `patience` milliseconds: then it is time to dispose it.
   */
  drain(patience: number): Promise<void>;
  /** Uses another certificate from the next connection on. */
  renewTls(tls: TlsIdentity): void;
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

/**
 * Composes and starts the server. With `openTenant` it alone knows all of its parts. Rejects with `PortTakenError`,
 * `WorkspaceError`, `SandboxRequired`, `StoreError` or `UnsafeFileError`; nothing is left running then.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { token, users } = options;
  await using parts = new AsyncDisposableStack();
  const watch = parts.use(
    await openServerWatch({
      ...{ version: options.version, log: options.log, environment: options.environment },
      metricsAsked: options.metricsAddress !== undefined,
      secrets: token === undefined ? [] : [token],
    }),
  );
  const { log, observer } = watch;
  const draining = new Draining();
  const stateDir = await prepareStateDirectory(options.stateDir);
  const configDir = userConfigDir(options.environment);
  const environment = commandEnvironment(options.environment);
  const sandbox = parts.use(
    await openSandbox({
      mode: options.sandbox ?? "auto",
      ...{ stateDir, environment, home: homedir(), platform: platform() },
      privateDirectories: [configDir],
    }),
  );
  if (sandbox.state === "unsandboxed") log.warn(`Commands run without a sandbox: ${sandbox.reason}.`);
  const usersRoot = users && openUsersRoot(users.workspaceRoot, { stateDir, configDir, environment });
  // There from the beginning: other servers of a shared log need a copy before their own start.
  if (users !== undefined) await openLedgerSigner(stateDir);
  const admission = new Admission(options.limits ?? defaultLimits);
  const callers = new Callers();
  const authenticated = token !== undefined || users !== undefined;
  const open = new Set<Tenant>();
  const server: ServerParts = {
    ...{ options, callers, admission, configDir, environment, sandbox, authenticated, watch },
    assertTurnsMayStart: () => draining.assertTurnsMayStart(),
    sessionsOpen: () => [...open].reduce((sum, { manager }) => sum + manager.openCount, 0),
  };
  const opened = async (place: TenantPlace): Promise<Tenant> => {
    const tenant = await openTenant(server, place);
    open.add(tenant);
    return tenant;
  };
  const sharedLog = options.sharedLog === undefined ? {} : { sharedLog: options.sharedLog };
  const only = usersRoot === undefined ? parts.use(await opened({ name: "", stateDir, ...sharedLog })) : undefined;
  const tenants =
    usersRoot === undefined
      ? undefined
      : parts.use(
          new Tenants({
            ...{ stateDir, usersRoot, ...sharedLog, limit: admission.limits.tenants },
            open: opened,
          }),
        );

  const tenantOf = async (name: string): Promise<Tenant> => {
    const tenant = only ?? (await tenants?.of(name));
    if (tenant === undefined) throw new TypeError("There is no tenant.");
    return tenant;
  };
  const theOnly = (): Tenant => {
    if (only === undefined) throw new TypeError("This server has many users: ask for a tenant.");
    return only;
  };

  const notReady = (): NotReady => {
    if (draining.begun) return "draining";
    return [...open].every((tenant) => tenant.mayAct) ? undefined : "no_contact_with_log";
  };
  const load = (): Promise<ServerLoad> => loadOf(open, notReady() === undefined);
  watch.telemetry?.watchLoad(load);

  const pages = new PageTokens({ limit: maxPages });
  const scheme = options.tls !== undefined || options.behindProxy === true ? "https" : "http";
  const pageDoor =
    options.pageDirectory === undefined
      ? undefined
      : openPageDoor({
          files: await readPageFiles(options.pageDirectory),
          facts: { version: options.version, authenticated },
          ...{ tokens: pages, scheme },
        });
  const listener = parts.use(
    await listenHttp({
      ...{ address: options.address, token, pages },
      ...(users === undefined ? {} : { judge: reportedJudge(users.verifier, log) }),
      ...(options.tls === undefined ? {} : { tls: options.tls }),
      behindProxy: options.behindProxy ?? false,
      allowedHosts: options.allowedHosts ?? [],
      allowedOrigins: options.allowedOrigins ?? [],
      onRefused: (status) => observer.refused(status),
      isLeaving: () => draining.begun,
      goodbye,
      routes: ({ shutdown }) => {
        const handlers = new WeakMap<Tenant, ReturnType<Tenant["rpcHandler"]>>();
        const handlerOf = (tenant: Tenant): ReturnType<Tenant["rpcHandler"]> => {
          const handler = handlers.get(tenant) ?? tenant.rpcHandler(shutdown);
          handlers.set(tenant, handler);
          return handler;
        };
        const rpc: Route["handle"] = async (request, response, { identity }) => {
          const tenant = await tenantOf(identity.tenant).catch((error: unknown) => {
            log.error("A tenant could not be opened.", error);
          });
          if (tenant !== undefined) return handlerOf(tenant)(request, response, identity);
          const message = "your tenant cannot be served right now";
          sendError(response, { status: 503, code: "unavailable", message, headers: { "Retry-After": "30" } });
        };
        const health = () => ({
          status: "ok",
          version: options.version,
          protocolVersion,
          isolation: sandbox.state,
          isolationReason: sandbox.reason,
          workspace: only?.workspace,
        });
        return new Map([
          ...rpcRoutes(rpcPaths, rpc),
          [HEALTH_PATH, healthRoute(health)],
          ...probeRoutes(notReady),
          ...(pageDoor?.routes ?? []),
          ...(token === undefined ? [] : ([[CHALLENGE_PATH, challengeRoute(token)]] as const)),
        ]);
      },
    }),
  );
  const rina =
    options.rinaPort === undefined || only === undefined
      ? undefined
      : parts.use(
          await openRina({
            ...{ port: options.rinaPort, version: options.version, plans: only.plans, manager: only.manager },
            report: (error) => log.error("A request of the RinaWarp port failed unexpectedly.", error),
          }),
        );
  if (options.announce && token !== undefined) {
    parts.use(
      await writeDiscovery(stateDir, {
        url: listener.url,
        token,
        pid: process.pid,
        version: options.version,
        workspace: only?.workspace ?? "",
        startedAt: Date.now(),
      }),
    );
  }
  const metrics =
    options.metricsAddress === undefined || watch.telemetry === undefined
      ? undefined
      : parts.use(await listenForMetrics(options.metricsAddress, watch.telemetry.prometheusText));
  await watch.flush();
  const running = parts.move();
  return {
    url: listener.url,
    metricsUrl: metrics?.url,
    drain: async (patience) => draining.begin(async () => (await load()).turnsRunning, patience),
    port: listener.port,
    rinaUrl: rina?.url,
    token,
    sandbox,
    // Whom it would be for, on a server with many users, only they can say: `gennai open` with their token.
    pageLink: () =>
      users === undefined
        ? pageDoor && `${listener.url}/${token === undefined ? "" : `#${pageDoor.issueCode(oneUser)}`}`
        : undefined,
    tenant: (name = "") => tenantOf(name),
    workspace: only?.workspace,
    get manager() {
      return theOnly().manager;
    },
    get plans() {
      return theOnly().plans;
    },
    renewTls: (tls) => listener.renewTls(tls),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function loadOf(tenants: Iterable<Tenant>, ready: boolean): Promise<ServerLoad> {
  const sum = { sessionsOpen: 0, turnsRunning: 0, subscribers: 0, eventsQueued: 0, requestsOpen: 0 };
  for (const { manager } of tenants) {
    const load = await manager.load();
    sum.sessionsOpen += load.sessionsOpen;
    sum.turnsRunning += load.turnsRunning;
    sum.subscribers += load.subscribers;
    sum.eventsQueued += load.eventsQueued;
    sum.requestsOpen += load.requestsOpen;
  }
  return { ...sum, ready };
}

/** Says in the log why tokens are refused, not too often: whoever sends them learns only that they are. */
function reportedJudge(verifier: TokenVerifier, log: ServerLog): (token: string) => Promise<TokenJudgement> {
  const reports = new Allowance(1, () => performance.now(), 20);
  return async (token) => {
    const judgement = await verifier.judge(token);
    if (judgement.type !== "accepted" && reports.take()) log.warn(`A token was ${judgement.type}: ${judgement.reason}`);
    return judgement;
  };
}
