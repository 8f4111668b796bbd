import { homedir } from "node:os";
import { warnOfUnsandboxedGit } from "@gennai/git/run/git-isolation";
import type { ExportDestination } from "@gennai/governance/limits/export-schema";
import { contentDays, unstagedRefusal } from "@gennai/governance/limits/laid-down";
import { refuseManaged } from "@gennai/machine/managed-refusal";
import type { CommandLimits } from "@gennai/machine/process/command-limits";
import type { ServerLog } from "@gennai/machine/server-log";
import { stagesWord } from "@gennai/protocol/commands-mode";
import { rpcPaths } from "@gennai/protocol/rpc-services";
import { challengePath } from "@gennai/protocol/server-proof";
import { protocolVersion } from "@gennai/protocol/spoken-protocol";
import { loadLimits } from "@gennai/sessions/rules/load-limits";
import { ManagedPolicy } from "@gennai/sessions/rules/managed-policy";
import { Callers, oneUser } from "@gennai/sessions/session/identity";
import type { Sandbox } from "@gennai/stage/sandbox/sandbox";
import { openLedgerSigner } from "@gennai/store/ledger/ledger-key";
import type { LogAddress } from "@gennai/store/nats/log-address";
import type { OldPurge } from "@gennai/store/purge/purge-old";
import { Admission } from "./admission/admission.ts";
import { Allowance } from "./admission/allowance.ts";
import { FreeDescriptors } from "./admission/free-descriptors.ts";
import { defaultLimits } from "./admission/limits.ts";
import { StorageKeeper } from "./admission/storage-keeper.ts";
import { Draining } from "./draining.ts";
import { answerRoutes } from "./elsewhere/answer-routes.ts";
import { openElsewhere } from "./elsewhere/open-elsewhere.ts";
import { challengeRoute } from "./http/challenge-route.ts";
import { writeDiscovery } from "./http/discovery.ts";
import { openGuardDoor } from "./http/listen/guard-door.ts";
import { listenHttp } from "./http/listen/http-server.ts";
import { readTlsFiles, type TlsIdentity } from "./http/listen/tls-files.ts";
import { HEALTH_PATH, healthRoute, type NotReady, probeRoutes } from "./http/probe-routes.ts";
import { type RouteTable, rpcRoutes } from "./http/route.ts";
import type { TokenJudgement, TokenVerifier } from "./identity/token-verifier.ts";
import { openUsersRoot } from "./identity/users-root.ts";
import { warnOfUsers } from "./identity/warn-of-users.ts";
import { Idleness } from "./idleness.ts";
import { PageDevices } from "./page/page-devices.ts";
import { readPageFiles } from "./page/page-files.ts";
import { openPageDoor } from "./page/page-routes.ts";
import { PageTokens } from "./page/page-tokens.ts";
import { shutdownError } from "./rpc/connect-error.ts";
import { isolationOf, openStages, stagesUsed } from "./rpc/open-stages.ts";
import { tenantRpc } from "./rpc/transport/node-rpc-handler.ts";
import { serveInProcess } from "./rpc/transport/rpc-in-process.ts";
import type { RunningServer } from "./serve.ts";
import { listenForMetrics } from "./telemetry/export/metrics-listener.ts";
import type { ServerWatch } from "./telemetry/server-watch.ts";
import type { ServerOptions } from "./tenants/server-options.ts";
import type { Tenant } from "./tenants/tenant.ts";
import { Tenants } from "./tenants/tenants.ts";

/** Pages of one user that may be open at once. */
const maxPages = 64;

/** What `startServer` has already read and opened. */
export interface OpenedFirst {
  readonly tls: TlsIdentity | undefined;
  /** Checks users' tokens, on a server with several users. */
  readonly verifier: TokenVerifier | undefined;
  readonly metricsAddress: Parameters<typeof listenForMetrics>[0] | undefined;
  readonly sharedLog: LogAddress | undefined;
  readonly watch: ServerWatch;
  /** Real path. */
  readonly stateDir: string;
  readonly configDir: string;
  /** Bytes that the state directory takes at most. */
  readonly mostStorageBytes: number;
  /** Where the user wants records to be sent. */
  readonly exports: readonly ExportDestination[];
  readonly commandLimits: Partial<CommandLimits>;
  /** Environment of commands. */
  readonly environment: Readonly<Record<string, string>>;
  readonly sandbox: Sandbox;
  /** Parts to close together with the server. */
  readonly parts: AsyncDisposableStack;
}

/**
 * Creates the server from all of its parts, and starts listening. Only this and `openTenant` know all parts. Rejects like
 * `startServer`; then `parts` are closed.
 */
export async function composeServer(options: ServerOptions, opened: OpenedFirst): Promise<RunningServer> {
  await using parts = opened.parts;
  const { tls, verifier, metricsAddress, sharedLog, watch, stateDir, configDir } = opened;
  const { commandLimits, environment, sandbox } = opened;
  const { token, users } = options;
  const { log, observer } = watch;
  const draining = new Draining();
  const idleness = new Idleness();
  const limitPlace = {
    environment: options.environment,
    configDir,
    stateDir,
    managed: new ManagedPolicy(options.policyFiles),
    version: options.version,
  };
  if (options.commands === "ask") {
    refuseManaged(unstagedRefusal((await loadLimits({ ...limitPlace, required: false }, Date.now)).current()));
  }
  const stages = parts.use(
    await openStages(sandbox, {
      mode: options.commands ?? "auto",
      stateDir,
      home: homedir(),
      log,
      outside: options.outside,
    }),
  );
  const limitsNow = async () => (await loadLimits({ ...limitPlace, required: false }, Date.now)).current();
  const isolationReason = sandbox.reason;
  if (stages === undefined) log.warn(`Commands run without a sandbox: ${isolationReason}.`);
  // Not awaited: a git that does not respond must not delay the start.
  else void warnOfUnsandboxedGit(log);
  const usersRoot = users && openUsersRoot(users.workspaceRoot, { stateDir, configDir, environment });
  // There from the beginning: other servers of a shared log need a copy before their own start.
  if (users !== undefined) await openLedgerSigner(stateDir);
  // Not waited for: an issuer that is away for a moment keeps no server from starting.
  if (verifier !== undefined) void warnOfUsers(verifier, limitPlace, log);
  const descriptors = new FreeDescriptors();
  const scheme = tls !== undefined || options.behindProxy === true ? "https" : "http";
  const elsewhere = await openElsewhere({ options, configDir, stateDir, scheme, log }, limitsNow);
  const admission = new Admission(options.limits ?? defaultLimits, { descriptors });
  const callers = new Callers();
  // Anyone who calls from this process was handed the way to it.
  const authenticated = token !== undefined || users !== undefined || options.address.type === "in-process";
  const tenants = parts.use(
    await Tenants.open(
      {
        options,
        callers,
        admission,
        configDir,
        environment,
        commandLimits,
        exports: opened.exports,
        stages,
        isolationReason,
        authenticated,
        elsewhere: elsewhere?.asked,
        watch,
        assertTurnsMayStart: () => draining.assertTurnsMayStart(),
      },
      { stateDir, usersRoot, sharedLog },
    ),
  );
  const purge = async (now: number, signal: AbortSignal): Promise<OldPurge | undefined> => {
    const wanted = contentDays(await limitsNow());
    if (wanted === undefined) return undefined;
    return tenants.purgeOld({ before: now - wanted.days * 86_400_000, by: `the policy ${wanted.by}`, signal });
  };
  parts.use(new StorageKeeper(stateDir, { mostBytes: opened.mostStorageBytes, log, purge }));
  const { only } = tenants;
  const theOnly = (): Tenant => {
    if (only === undefined) throw new TypeError("This server has many users: ask for a tenant.");
    return only;
  };

  const notReady = (): NotReady => {
    if (draining.begun) return "draining";
    if (!tenants.mayAct) return "no_contact_with_log";
    // With several tenants, one must not lock out the others.
    return only?.isForward === false ? "ledger_rolled_back" : undefined;
  };
  watch.telemetry?.watchLoad(async () => ({ ...(await tenants.load()), ready: notReady() === undefined }));

  const pages = new PageTokens({ limit: maxPages });
  const pageDoor =
    options.pageDirectory === undefined
      ? undefined
      : openPageDoor({
          files: await readPageFiles(options.pageDirectory),
          facts: { version: options.version, authenticated },
          tokens: pages,
          devices: only === undefined ? undefined : new PageDevices(stateDir),
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
            allowedHosts: [...(options.allowedHosts ?? []), ...(elsewhere?.hosts ?? [])],
            allowedOrigins: options.allowedOrigins ?? [],
            maxConnections: descriptors.forConnections,
            onRefused: (status) => observer.refused(status),
            onError: (error) => log.error("A request failed unexpectedly.", error),
            isLeaving: () => draining.begun,
            shutdownError,
            routes: ({ shutdown }) => {
              const health = () => ({
                status: "ok",
                version: options.version,
                protocolVersion,
                isolation: isolationOf(stages),
                isolationReason,
                stages: stagesWord(stages?.mode ?? "ask"),
                workspace: only?.workspace,
              });
              routeTable = new Map([
                ...rpcRoutes(rpcPaths, idleness.watched(tenantRpc(tenants, { shutdown, log }))),
                [HEALTH_PATH, healthRoute(health)],
                ...probeRoutes(notReady, () => tenants.rolledBack),
                ...(pageDoor?.routes ?? []),
                ...(pageDoor && elsewhere ? answerRoutes(elsewhere.asked, { page: pageDoor.page, scheme }) : []),
                ...(token === undefined ? [] : ([[challengePath, challengeRoute(token)]] as const)),
              ]);
              return routeTable;
            },
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
              shared: { commands: options.commands ?? "auto", protectedBranches: options.protectedBranches ?? [] },
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

/** Says in the log why tokens are refused, not too often: anyone who sends them learns only that they are. */
function reportedVerifier(verifier: TokenVerifier, log: ServerLog): (token: string) => Promise<TokenJudgement> {
  const reports = new Allowance(1, () => performance.now(), 20);
  return async (token) => {
    const judgement = await verifier.judge(token);
    if (judgement.type !== "accepted" && reports.take()) log.warn(`A token was ${judgement.type}: ${judgement.reason}`);
    return judgement;
  };
}
