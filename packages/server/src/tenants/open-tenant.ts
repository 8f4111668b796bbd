import { homedir, platform } from "node:os";
import { join } from "node:path";
import type { ConnectRouter } from "@connectrpc/connect";
import type { StandingCheck } from "@gennai/governance/gate/standing-check";
import { exportsOf, managedBranches } from "@gennai/governance/limits/laid-down";
import { problemOf } from "@gennai/governance/limits/limits";
import { GuardedHosts } from "@gennai/guard/guarded-hosts";
import { ProcessLocks } from "@gennai/machine/process/locks/process-lock";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import { searchProviders } from "@gennai/machine/web/search-providers";
import { loadWebConfig } from "@gennai/machine/web/web-config";
import { WorkspaceRegistry } from "@gennai/machine/workspace/workspace-registry";
import { ModelKeys } from "@gennai/models/catalogue/model-keys";
import { Approvals } from "@gennai/sessions/bridge/second-person";
import { openClientWorkspaces } from "@gennai/sessions/client-workspace/open-client-workspaces";
import { SessionManager } from "@gennai/sessions/manager/session-manager";
import { McpServers } from "@gennai/sessions/mcp/mcp-servers";
import { SessionPlans } from "@gennai/sessions/plans/session-plans";
import { emergencyEvent } from "@gennai/sessions/rules/emergency-change";
import { EmergencyControls } from "@gennai/sessions/rules/emergency-controls";
import { EmergencyStore } from "@gennai/sessions/rules/emergency-store";
import { loadLimits as loadLimitsOf } from "@gennai/sessions/rules/load-limits";
import { ManagedPolicy } from "@gennai/sessions/rules/managed-policy";
import { AcceptedChecks, AcceptedConnections } from "@gennai/sessions/rules/workspace-answers";
import { WorkspaceHooks } from "@gennai/sessions/rules/workspace-hooks";
import { UserWorkspaces } from "@gennai/sessions/session/user-workspaces";
import { GovernanceRegistry } from "@gennai/sessions/session/workspace-governance";
import { CheckpointRegistry } from "@gennai/store/checkpoints/workspace-checkpoints";
import { withReplacedFiles } from "@gennai/store/log/with-replaced-files";
import type { LogAddress } from "@gennai/store/nats/log-address";
import { openStore } from "@gennai/store/sqlite/store";
import { FreeSpace } from "../admission/free-space.ts";
import { LedgerExport } from "../export/ledger-export.ts";
import { UserModelKeys } from "../identity/user-model-keys.ts";
import type { Replica } from "../replica/open-replica.ts";
import { accessInterceptor, holdSessionInterceptor } from "../rpc/access-interceptor.ts";
import { registerAgentService } from "../rpc/agent-service.ts";
import { errorInterceptor } from "../rpc/error-interceptor.ts";
import { type GovernedTenant, registerGovernanceService } from "../rpc/governance-service.ts";
import { attemptRpcs } from "../rpc/methods/attempt-rpcs.ts";
import { chooseModelRpcs } from "../rpc/methods/choose-model-rpcs.ts";
import { modelKeyRpc } from "../rpc/methods/model-key-rpc.ts";
import { recoverAndTell } from "../rpc/open-stages.ts";
import { createParity } from "../rpc/parity.ts";
import { registerPlanService } from "../rpc/plan-service.ts";
import { ModelTrials } from "./model-trials.ts";
import type { ServerOptions } from "./server-options.ts";
import type { ServerParts, Tenant, TenantDirectories } from "./tenant.ts";
import { tenantAttempts } from "./tenant-attempts.ts";
import { tenantModels } from "./tenant-models.ts";

/** Questions wait this long for an answer, and for a client that could give one. Milliseconds. */
const defaultConfirmation = { waitForClientMs: 600_000 };

const features = [
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
  "client-workspace",
  "queued-messages",
  "attempts",
];

/** Composes everything that belongs to one tenant. Rejects with `WorkspaceError` or `StoreError`; nothing is left running then. */
export async function openTenant(server: ServerParts, place: TenantDirectories): Promise<Tenant> {
  const {
    options,
    callers,
    admission,
    configDir,
    environment,
    commandLimits,
    exports,
    stages,
    isolationReason,
    authenticated,
    watch,
  } = server;
  const { stateDir } = place;
  const { token } = options;
  const { log, observer } = watch;
  await using parts = new AsyncDisposableStack();
  const replica = place.sharedLog && parts.use(await joinSharedLog(place.sharedLog, { options, stateDir, log }));
  const store =
    replica?.store ??
    parts.use(
      await openStore(stateDir, {
        toolVersion: options.version,
        onWarning: (text) => log.warn(text),
      }),
    );
  await recoverAndTell(stateDir, log);
  const workspaces = new WorkspaceRegistry(stateDir);
  const workspace = options.workspace === undefined ? undefined : (await workspaces.open(options.workspace)).root;
  const managed = new ManagedPolicy(options.policyFiles);
  const limitPlace = { environment: options.environment, configDir, stateDir, required: options.users !== undefined };
  const loadLimits = () => loadLimitsOf({ ...limitPlace, managed, version: options.version }, Date.now);
  const limitsNow = async () => (await loadLimits()).current();
  const redactor = await createRedactor({ secrets: token === undefined ? [] : [token] });
  const mcp = parts.use(
    new McpServers({
      stateDir,
      configDir,
      home: homedir(),
      version: options.version,
      environment: options.environment,
      commandEnvironment: environment,
      limits: limitsNow,
      learn: (secret) => redactor.learn(secret),
    }),
  );
  const serverKeys = new ModelKeys({
    environment: options.environment,
    platform: platform(),
    onKey: (key) => {
      redactor.learn(key);
      watch.learn(key);
    },
  });
  const keys = place.usersRoot === undefined ? serverKeys : new UserModelKeys({ callers, shared: serverKeys });
  const ofUsers = place.usersRoot !== undefined;
  const models = tenantModels({ keys, configDir, ofUsers, observer, options, limits: limitsNow });
  const trials: ModelTrials = new ModelTrials({
    assertTurnsMayStart: () => brakes.assertTurnsMayStart(),
    takeSeat: () => admission.turn({ tenant: place.name, user: callers.current()?.user ?? "" }),
    onUnexpectedError: (error) => log.error("Trying a model failed unexpectedly.", error),
  });
  const destinations = async () => exportsOf(await limitsNow(), exports);
  parts.use(new LedgerExport(destinations, { stateDir, version: options.version, log }));
  const problem = problemOf(await limitsNow());
  if (problem !== undefined) log.warn(`Only reading is permitted: ${problem}`);
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
      authenticated,
      workspaceRoots: () => manager.workspaceRoots(),
      announce: (change) => manager.announce(emergencyEvent(change)),
      stopWork: async (reason) => {
        trials.stop();
        const [turnIds] = await Promise.all([
          manager.stop(() => true, reason),
          attempts.stopOf(() => true),
          manager.stopBackground("an emergency control"),
        ]);
        return turnIds;
      },
      onError: (error) => log.error("An emergency control could not be made effective everywhere.", error),
    }),
  );
  const brakes = {
    current: () => emergency.current(),
    standingCheck:
      replica === undefined ? emergency.standingCheck : bothChecks(emergency.standingCheck, replica.standingCheck),
    assertTurnsMayStart() {
      server.assertTurnsMayStart();
      store.assertForward();
      replica?.assertMayAct();
      emergency.assertTurnsMayStart();
    },
  };
  const governance = parts.use(
    new GovernanceRegistry({
      stateDir,
      home: homedir(),
      limits: limitsNow,
      onWarning: (text) => log.warn(text),
      onRules: (root, status) => {
        manager.announce({ type: "rules-changed", status }, root).catch((error: unknown) => {
          log.error("A change of rules could not be told to every session.", error);
        });
      },
    }),
  );
  const clientWorkspaces = parts.use(
    openClientWorkspaces({ stateDir: store.stateDir, blobs: store.blobs, now: Date.now }),
  );
  const checkpoints = parts.use(new CheckpointRegistry({ stateDir: store.stateDir }));
  const space = new FreeSpace(stateDir);
  const hasApprovers = options.users?.claims.approverRole !== undefined;
  const approvals = new Approvals(Date.now, replica?.presence.replicaId);
  const manager: SessionManager = new SessionManager(
    {
      log: observer.log(store.log),
      blobs: stages === undefined ? store.blobs : withReplacedFiles(store.blobs, stages.replaced),
      locks: new ProcessLocks(join(stateDir, "locks"), replica?.locks),
      redactor,
      observer,
      callers,
      admission: {
        turn: (user) => {
          space.assertRoom();
          return admission.turn({ tenant: place.name, user });
        },
        assertRoomForNew: () => space.assertRoom(),
        sessionsPerUser: admission.limits.sessionsPerUser,
        treeWaitMs: admission.limits.treeWaitMs,
        hasRoomForSession: () => server.sessionsOpen() < admission.limits.sessions,
      },
      ...(place.usersRoot === undefined ? {} : { userWorkspaces: new UserWorkspaces(place.usersRoot, place.name) }),
      openWorkspace: (directory) => {
        stages?.names.note(directory);
        return workspaces.open(directory);
      },
      openClientWorkspace: clientWorkspaces.open,
      closeClientWorkspace: (held, sessionId) => {
        clientWorkspaces.forget(sessionId);
        governance.release(held).catch((error: unknown) => {
          log.error("What governs a workspace could not be closed.", error);
        });
      },
      createModel: (settings, asking) => models.createModel(settings, asking),
      emergency: brakes,
      ...(replica === undefined ? {} : { ownership: replica.ownership }),
      loadLimits,
      governanceOf: (opened) => governance.of(opened),
      checkpointsOf: (opened) => checkpoints.of(opened),
      mcp,
      loadWeb: () => loadWebConfig(configDir, options.environment),
      searchKey: (provider) => serverKeys.findOther(provider, searchProviders[provider].keyVariables),
      loadHooks: (workspaceRoot) =>
        new WorkspaceHooks({ configDir, stateDir, workspaceRoot, limits: limitsNow }).load(),
      acceptedChecks: ({ place: held }) => new AcceptedChecks(stateDir, attempts.originalOf(held)),
      acceptedConnections: ({ place: held }) => new AcceptedConnections(stateDir, attempts.originalOf(held)),
      configDir,
      ownDirectories: [...new Set([options.stateDir, stateDir]), configDir],
      onUnexpectedError: (error) => log.error("A turn failed unexpectedly.", error),
      stages,
      isolationReason,
      defaultSettings: options.defaultSettings,
      confirmation: options.confirmation ?? defaultConfirmation,
      elsewhere: server.elsewhere,
      secondPerson: hasApprovers ? approvals : undefined,
      protectedBranches: async () => [...(options.protectedBranches ?? []), ...managedBranches(await limitsNow())],
      home: homedir(),
      userKeys: options.users === undefined ? { home: homedir(), environment: options.environment } : undefined,
      commandEnvironment: environment,
      commandLimits,
      now: Date.now,
    },
    { defaultWorkspace: workspace },
  );
  const plans = new SessionPlans(Date.now);
  parts.defer(async () => {
    trials.stop();
    await manager.leave();
    await manager.stopBackground("the end of the server");
  });
  // Before the sessions that make them are left.
  const attempts = parts.use(await tenantAttempts({ manager, governance, stateDir, options, log }));
  const stopAttempts = attempts.stopOf.bind(attempts);
  replica?.presence.onChange(() => {
    if (replica.presence.isConfirmed) return;
    trials.stop();
    // Nobody cancelled them: they can be continued, here or at another server.
    Promise.all([manager.leave(), stopAttempts(() => true)])
      .then(() => manager.stopBackground("the end of contact with the log"))
      .catch((error: unknown) => {
        log.error("Work could not be stopped.", error);
      });
  });
  const guarded = new GuardedHosts(manager);
  const governed: GovernedTenant = {
    manager,
    guarded,
    emergency,
    stateDir,
    approvals,
    hasUsers: ofUsers,
    version: options.version,
    environment: options.environment,
    parity: createParity({
      version: options.version,
      releaseDirectory: options.releaseDirectory,
      workspace,
      services: manager.services,
      protectedBranches: options.protectedBranches ?? [],
    }),
    flushLedgers: () => store.flushLedgers(),
    onWarning: (text) => log.warn(text),
  };
  const joinReplicas = replica && (await import("../rpc/replica-services.ts")).joinReplicas;
  const report = (error: unknown): void => log.error("An RPC failed unexpectedly.", error);
  const routes = (router: ConnectRouter): void => {
    const [setModelKey, chooseModel] = [modelKeyRpc(keys), chooseModelRpcs(models, trials)];
    registerAgentService(router, {
      manager,
      guarded,
      setModelKey,
      chooseModel,
      attempts: attemptRpcs(manager, attempts),
      stopAttempts,
      version: options.version,
      features: hasApprovers ? [...features, "two-persons"] : features,
    });
    registerPlanService(router, { manager, plans, authenticated });
    registerGovernanceService(router, governed);
  };
  const access = accessInterceptor({ callers, manager: () => manager });
  const hold = holdSessionInterceptor(() => manager);
  const routing =
    replica &&
    joinReplicas?.(replica, {
      manager: () => manager,
      callers,
      scopes: watch.scopes,
      routes,
      guards: [access, hold],
      report,
    });
  const opened = parts.move();
  return {
    name: place.name,
    stateDir,
    manager,
    plans,
    workspace,
    get mayAct() {
      return replica?.mayAct ?? true;
    },
    get isForward() {
      return store.isForward;
    },
    rpcOptions: (shutdown) => ({
      routes,
      callers,
      admission,
      shutdown,
      report,
      interceptors: [
        ...watch.interceptors,
        errorInterceptor(report),
        access,
        hold,
        ...(routing === undefined ? [] : [routing]),
      ],
    }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Loaded only where it is used: one machine has no need of NATS. */
async function joinSharedLog(
  address: LogAddress,
  { options, stateDir, log }: Pick<ServerParts, "options"> & Pick<ServerOptions, "stateDir" | "log">,
): Promise<Replica> {
  const { openReplica } = await import("../replica/open-replica.ts");
  const { version, onRestartNeeded = () => undefined } = options;
  return openReplica(stateDir, { address, version, log, onDistrusted: onRestartNeeded });
}

/** Both must allow. */
function bothChecks(first: StandingCheck, second: StandingCheck): StandingCheck {
  return {
    check: (input) => {
      const verdict = first.check(input);
      return verdict.type === "allow" ? second.check(input) : verdict;
    },
    onChange: (listener) => {
      const subscriptions = [first.onChange(listener), second.onChange(listener)];
      return {
        [Symbol.dispose]: () => {
          for (const subscription of subscriptions) subscription[Symbol.dispose]();
        },
      };
    },
  };
}
