import { homedir, platform } from "node:os";
import { join } from "node:path";
import type { ConnectRouter } from "@connectrpc/connect";
import type { SessionSettings } from "@gennai/agent/session-settings";
import { loadCapabilities } from "./capabilities/load-capabilities.ts";
import { CheckpointRegistry } from "./checkpoints/checkpoint-registry.ts";
import { userConfigDir } from "./config/config-directory.ts";
import { emergencyEvent } from "./emergency/emergency-change.ts";
import { EmergencyControls } from "./emergency/emergency-controls.ts";
import { EmergencyStore } from "./emergency/emergency-store.ts";
import { loadHooks } from "./hooks/load-hooks.ts";
import { writeDiscovery } from "./http/discovery.ts";
import { HEALTH_PATH, healthRoute } from "./http/health-route.ts";
import { listenHttp } from "./http/http-server.ts";
import type { ListenAddress } from "./http/listen-address.ts";
import { rpcRoutes } from "./http/route.ts";
import { CHALLENGE_PATH, challengeRoute } from "./http/server-proof.ts";
import { McpServers } from "./mcp/mcp-servers.ts";
import { loadModelFacts } from "./models/model-facts.ts";
import { ModelKeys } from "./models/model-keys.ts";
import { createModel } from "./models/model-registry.ts";
import type { LogAddress } from "./nats/log-address.ts";
import { readPageFiles } from "./page/page-files.ts";
import { openPageDoor } from "./page/page-routes.ts";
import { PageTokens } from "./page/page-tokens.ts";
import type { PlanAuthority } from "./plans/plan-authority.ts";
import { SessionPlans } from "./plans/session-plans.ts";
import { commandEnvironment } from "./process/command-environment.ts";
import { ProcessLocks } from "./process/process-lock.ts";
import { createRedactor } from "./redaction/redactor.ts";
import { bothChecks } from "./replica/both-checks.ts";
import type { Replica } from "./replica/open-replica.ts";
import { openRina } from "./rina/open-rina.ts";
import { agentServicePaths, protocolVersion, registerAgentService } from "./rpc/agent-service.ts";
import { errorInterceptor } from "./rpc/error-interceptor.ts";
import { governanceServicePaths, registerGovernanceService } from "./rpc/governance-service.ts";
import { modelKeyRpc } from "./rpc/model-key-rpc.ts";
import { nodeRpcHandler } from "./rpc/node-rpc-handler.ts";
import { planServicePaths, registerPlanService } from "./rpc/plan-service.ts";
import { openSandbox } from "./sandbox/open-sandbox.ts";
import type { SandboxMode } from "./sandbox/sandbox.ts";
import { loadScenarios } from "./scenarios/load-scenarios.ts";
import type { ServerLog } from "./server-log.ts";
import { checkCall } from "./sessions/check-call.ts";
import { intentsPort } from "./sessions/intents-port.ts";
import { SessionManager } from "./sessions/session-manager.ts";
import { chooseScenario, promptFor } from "./sessions/turn.ts";
import { GovernanceRegistry } from "./sessions/workspace-governance.ts";
import { readLedgerRecords, readNewestLedgerRecords } from "./store/ledger-records.ts";
import { verifyWorkspaceLedger } from "./store/ledger-verify.ts";
import { openStore } from "./store/store.ts";
import { loadWebConfig } from "./web/web-config.ts";
import { recoverWorkspaceJournals } from "./workspace/recover-journals.ts";
import { WorkspaceRegistry } from "./workspace/workspace-registry.ts";

export interface ServerOptions {
  readonly version: string;
  readonly address: ListenAddress;
  /** What clients must send; undefined only by the user's `--no-auth`. */
  readonly token: string | undefined;
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
  /** A fresh address that opens the page once; undefined when no page is served. */
  pageLink(): string | undefined;
  /** Real path of the default workspace. */
  readonly workspace: string | undefined;
  readonly manager: SessionManager;
  readonly plans: PlanAuthority;
}

/** Questions wait this long for an answer, and for a client that could give one. Milliseconds. */
const defaultConfirmation = { answerMs: 30_000, waitForClientMs: 600_000 };

/** Pages that may be open at once. */
const maxPages = 64;

/**
 * Composes and starts the server. This file alone knows all of its parts. Rejects with `PortTakenError`, `WorkspaceError`,
 * `SandboxRequired`, `StoreError` or `UnsafeFileError`; nothing is left running then.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { stateDir, log, token } = options;
  await using parts = new AsyncDisposableStack();
  const replica = options.sharedLog && parts.use(await joinSharedLog(options.sharedLog, options));
  const store =
    replica?.store ??
    parts.use(
      await openStore(stateDir, {
        toolVersion: options.version,
        onWarning: (text) => log.warn(text),
      }),
    );
  for (const recovered of recoverWorkspaceJournals(stateDir)) {
    log.warn(`A set of changes broke off and was ${recovered.state}: ${recovered.root}`);
  }
  const workspaces = new WorkspaceRegistry(stateDir);
  const workspace = options.workspace === undefined ? undefined : (await workspaces.open(options.workspace)).root;
  const configDir = userConfigDir(options.environment);
  const environment = commandEnvironment(options.environment);
  const [sandbox, redactor] = await Promise.all([
    openSandbox({
      mode: options.sandbox ?? "auto",
      ...{ stateDir: store.stateDir, environment },
      home: homedir(),
      platform: platform(),
      privateDirectories: [configDir],
    }),
    createRedactor({ secrets: token === undefined ? [] : [token] }),
  ]);
  parts.use(sandbox);
  const isolation = sandbox.state;
  const mcp = parts.use(
    new McpServers({
      ...{ stateDir, configDir, home: homedir(), version: options.version },
      environment: options.environment,
      commandEnvironment: environment,
    }),
  );
  const keys = new ModelKeys({
    environment: options.environment,
    platform: platform(),
    onKey: (key) => redactor.learn(key),
  });
  if (sandbox.state === "unsandboxed") log.warn(`Commands run without a sandbox: ${sandbox.reason}.`);
  const capabilityFiles = { named: options.environment["GENNAI_CAPABILITIES"] || undefined, configDir, stateDir };
  const emergencyStore =
    replica?.emergency ??
    parts.use(
      await EmergencyStore.open(stateDir, {
        toolVersion: options.version,
        onWarning: (text) => log.warn(text),
        now: Date.now,
      }),
    );
  const emergency = parts.use(
    new EmergencyControls({
      store: emergencyStore,
      redactor,
      authenticated: token !== undefined,
      workspaceRoots: () => manager.workspaceRoots(),
      announce: (change) => manager.announce(emergencyEvent(change)),
      stopWork: (reason) => manager.stop(() => true, reason),
      onError: (error) => log.error("An emergency control could not be made effective everywhere.", error),
    }),
  );
  const brakes = replica && {
    current: () => emergency.current(),
    standingCheck: bothChecks(emergency.standingCheck, replica.standingCheck),
    assertTurnsMayStart() {
      replica.assertMayAct();
      emergency.assertTurnsMayStart();
    },
  };
  const governance = parts.use(
    new GovernanceRegistry({
      stateDir,
      home: homedir(),
      onWarning: (text) => log.warn(text),
      onRules: (root, status) => {
        manager.announce({ type: "rules-changed", status }, root).catch((error: unknown) => {
          log.error("A change of rules could not be told to every session.", error);
        });
      },
    }),
  );
  const checkpoints = parts.use(new CheckpointRegistry({ stateDir: store.stateDir }));
  const manager: SessionManager = new SessionManager(
    {
      log: store.log,
      blobs: store.blobs,
      locks: new ProcessLocks(join(stateDir, "locks"), replica?.locks),
      redactor,
      openWorkspace: (directory) => workspaces.open(directory),
      createModel: (settings, asking) => createModel(settings, (backend) => keys.find(backend), asking),
      loadModelFacts: () => loadModelFacts(configDir),
      loadScenarios,
      emergency: brakes ?? emergency,
      ...(replica === undefined ? {} : { ownership: replica.ownership }),
      loadCapabilities: () => loadCapabilities(capabilityFiles, Date.now),
      governanceOf: (opened) => governance.of(opened),
      checkpointsOf: (opened) => checkpoints.of(opened),
      mcp,
      loadWeb: () => loadWebConfig(configDir),
      loadHooks: (workspaceRoot) => loadHooks({ configDir, stateDir, workspaceRoot }),
      configDir,
      ownDirectories: [stateDir, configDir],
      onUnexpectedError: (error) => log.error("A turn failed unexpectedly.", error),
      isolation,
      sandbox,
      defaultSettings: options.defaultSettings,
      confirmation: options.confirmation ?? defaultConfirmation,
      protectedBranches: options.protectedBranches ?? [],
      home: homedir(),
      commandEnvironment: environment,
      platform: platform(),
      now: Date.now,
    },
    { defaultWorkspace: workspace },
  );
  const plans = new SessionPlans(Date.now);
  parts.defer(async () => {
    await manager.stop(() => true, "The server is shutting down.");
  });
  replica?.presence.onChange(() => {
    if (replica.presence.isConfirmed) return;
    manager
      .stop(() => true, "This server lost contact with the log.")
      .catch((error: unknown) => {
        log.error("Work could not be stopped.", error);
      });
  });

  const joinReplicas = replica && (await import("./rpc/replica-services.ts")).joinReplicas;
  const pages = new PageTokens({ limit: maxPages });
  const pageDoor =
    options.pageDirectory === undefined
      ? undefined
      : openPageDoor({
          files: await readPageFiles(options.pageDirectory),
          facts: { version: options.version, authenticated: token !== undefined },
          tokens: pages,
        });
  const listener = await listenHttp({
    ...{ address: options.address, token, pages },
    allowedHosts: options.allowedHosts ?? [],
    allowedOrigins: options.allowedOrigins ?? [],
    routes: ({ shutdown }) => {
      const report = (error: unknown): void => log.error("An RPC failed unexpectedly.", error);
      const routes = (router: ConnectRouter): void => {
        registerAgentService(router, {
          manager,
          setModelKey: modelKeyRpc(keys),
          version: options.version,
          features: [
            "resume",
            "model-keys",
            "blobs",
            "undo",
            "fork",
            "governance",
            "plans",
            "apply-proposal",
            "branches",
            "checkpoints",
            "compaction",
            "rename",
          ],
        });
        registerPlanService(router, { manager, plans, authenticated: token !== undefined });
        registerGovernanceService(router, {
          manager,
          emergency,
          loadCapabilities: () => loadCapabilities(capabilityFiles, Date.now),
          checkPolicy: checkCall,
          previewPrompt: async (session, scenario) =>
            promptFor(session, (await chooseScenario(session, scenario)).scenario),
          rules: async ({ session, workspaceRoot }) => {
            const opened = session?.workspace ?? (await workspaces.open(workspaceRoot));
            return (await governance.of(opened)).rules.status();
          },
          intents: intentsPort({ open: (root) => workspaces.open(root), governance }),
          ledger: {
            records: (root, after, limit) => readLedgerRecords(stateDir, root, after, limit),
            newest: (root, before, limit) => readNewestLedgerRecords(stateDir, root, before, limit),
            verify: (workspaceRoot) => verifyWorkspaceLedger({ workspaceRoot, stateDir }),
          },
        });
      };
      const routing = replica && joinReplicas?.(replica, { manager: () => manager, routes, report });
      const rpc = nodeRpcHandler({
        routes,
        interceptors: [errorInterceptor(report), ...(routing === undefined ? [] : [routing])],
        shutdown,
        report,
      });
      const health = () => ({
        status: "ok",
        version: options.version,
        protocolVersion,
        isolation,
        isolationReason: sandbox.reason,
        workspace,
      });
      return new Map([
        ...rpcRoutes([...agentServicePaths, ...governanceServicePaths, ...planServicePaths], (request, response) => {
          rpc(request, response);
        }),
        [HEALTH_PATH, healthRoute(health)],
        ...(pageDoor?.routes ?? []),
        ...(token === undefined ? [] : ([[CHALLENGE_PATH, challengeRoute(token)]] as const)),
      ]);
    },
  });
  parts.use(listener);
  const rina =
    options.rinaPort === undefined
      ? undefined
      : parts.use(
          await openRina({
            ...{ port: options.rinaPort, version: options.version, plans, manager },
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
        workspace: workspace ?? "",
        startedAt: Date.now(),
      }),
    );
  }
  const running = parts.move();
  return {
    url: listener.url,
    port: listener.port,
    rinaUrl: rina?.url,
    token,
    pageLink: () => pageDoor && `${listener.url}/${token === undefined ? "" : `#${pageDoor.issueCode()}`}`,
    workspace,
    manager,
    plans,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Loaded only where it is used: one machine has no need of NATS. */
async function joinSharedLog(address: LogAddress, { stateDir, version, log }: ServerOptions): Promise<Replica> {
  const { openReplica } = await import("./replica/open-replica.ts");
  return openReplica(stateDir, { address, version, log });
}
