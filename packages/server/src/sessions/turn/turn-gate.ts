import type { Scenario } from "@gennai/agent/scenarios/scenario";
import { canChange, toolsInMode } from "@gennai/agent/scenarios/tool-groups";
import { type GovernedTools, governTools } from "@gennai/governance/gate/gate";
import type { CallOutcome } from "@gennai/governance/gate/gate-journal";
import type { RememberedAnswers } from "@gennai/governance/gate/remembered-answers";
import { withPostToolHooks } from "@gennai/governance/hooks/hooks-journal";
import { createBrokenHooksPolicy, createHookPolicies } from "@gennai/governance/hooks/hooks-policy";
import { zeroAccessGlobs } from "@gennai/governance/policies/secrets";
import type { ObservedFile, Tool } from "@gennai/governance/tool";
import { SessionBridge } from "../../bridge/session-bridge.ts";
import { TurnCheckpoints } from "../../checkpoints/turn-checkpoints.ts";
import { warningsForClient } from "../../client-workspace/client-warnings.ts";
import { noCheckpoints } from "../../client-workspace/no-checkpoints.ts";
import { placeOfCommands } from "../../client-workspace/place-of-commands.ts";
import { loadProjectConfig } from "../../config/project-config.ts";
import { createCheckPolicy, lastingCheckAnswers, withCheckOperands } from "../../context/accept-check.ts";
import type { ProjectCheck } from "../../context/detect-check.ts";
import { createMayRead } from "../../context/may-read.ts";
import { createHookRunner } from "../../hooks/run-hook.ts";
import type { OfferedTools } from "../../mcp/mcp-servers.ts";
import { loadSkills } from "../../skills/load-skills.ts";
import { type TaskPorts, taskTools } from "../../sub-agents/task-tools.ts";
import { problemsTool } from "../../tools/reading/problems-tool.ts";
import { skillTool } from "../../tools/reading/skill-tool.ts";
import { symbolsTool } from "../../tools/reading/symbols-tool.ts";
import { createTools } from "../../tools/tool-set.ts";
import { webFetchTool } from "../../web/web-fetch-tool.ts";
import { readGitHead } from "../../workspace/git-head.ts";
import type { KnownFiles } from "../known-files.ts";
import type { Session } from "../session.ts";
import { SessionJournal } from "./session-journal.ts";
import { TreeClaimant } from "./tree-claimant.ts";
import { policyDigest, type TurnPolicyOptions, turnPolicies } from "./turn-policies.ts";

const noTools: OfferedTools = { tools: [], warnings: [] };

/** Milliseconds a policy may take. */
const policyTimeoutMs = 5_000;
/** Milliseconds for which a look at the files that steer the agent is shared by the policies of one decision. */
const freshMs = 250;

/** The tools of one turn behind its gate. Disposing gives up the claim to the working tree. */
export interface TurnGate extends Disposable {
  readonly tools: GovernedTools;
  /** What the user should know before the turn runs. */
  readonly warnings: readonly string[];
  /** SHA-256 of the rules in force. */
  readonly policySha256: string;
  /** For what the server fetches and checks for the user: the same gate, and no result in the conversation. */
  readonly own: {
    readonly tools: GovernedTools;
    readonly editor: SessionBridge;
    /** What its calls saw of files since this was last asked. */
    takeObserved(): readonly ObservedFile[];
    /** Commands that the repository chose, by call id: a person has to accept them. */
    readonly repositoryChecks: Map<string, ProjectCheck>;
    /** The check that the project's configuration names. */
    readonly configuredCheck: string | undefined;
    /** The scenario has commands, so that a check may be one. */
    readonly runsCommands: boolean;
  };
  /** Calls back after each call that changed files. */
  onChanged(listener: (paths: readonly string[], callId: string) => void): void;
}

/** What the server calls for the user, in every scenario. */
const ownToolNames: ReadonlySet<string> = new Set(["Read", "Glob", "Bash", "Problems"]);

/** Builds the tools, rules and records of one turn. Throws `ServiceError` for rules that cannot be read. */
export async function buildTurnGate(
  session: Session,
  scenario: Scenario,
  turn: {
    readonly turnId: string;
    readonly modelId: string;
    readonly signal: AbortSignal;
    /** Nothing runs: the working tree is not claimed. */
    readonly onlyChecks?: boolean;
    /** In place of what the session last saw of files. */
    readonly knownFiles?: KnownFiles;
    /** What sub-agents of the turn work with; without it there are none. */
    readonly subAgents?: Omit<TaskPorts, "session" | "scenario" | "tools" | "govern">;
    /** In place of the session's remembered answers. */
    readonly remembered?: RememberedAnswers;
  },
): Promise<TurnGate> {
  const { services, settings, workspace, state, writer } = session;
  const { turnId, signal } = turn;
  const { client } = workspace;
  const place = placeOfCommands(session);
  await workspace.syncControl({ workedOn: state.knownFiles.paths, signal });
  const head = readGitHead(workspace.controlRoot);
  // Whoever decides decides by what the project says now, wherever its files are.
  const synced = async (): Promise<void> => workspace.syncControl({ maxAgeMs: freshMs, signal });

  const bridge = new SessionBridge({
    clients: session.clients,
    requests: session.requests,
    turnId: () => turnId,
    interactive: () => settings.interactive,
  });
  const governance = await services.governanceOf(workspace);
  const damageControl = await governance.rules.current();
  const capabilities = await services.loadCapabilities();
  const { problem } = capabilities.current();
  const hooks = await services.loadHooks(workspace.place);
  const runner = createHookRunner({ cwd: workspace.controlRoot, environment: services.commandEnvironment });
  const tree = new TreeClaimant(services.locks, workspace.place, session.id);
  const rules: TurnPolicyOptions = {
    workspaceRoot: workspace.root,
    controlRoot: workspace.controlRoot,
    heldByClient: client !== undefined,
    syncControl: synced,
    editingMode: settings.editingMode,
    sessionBranch: head.type === "branch" ? head.branch : undefined,
    protectedBranches: services.protectedBranches,
    config: await loadProjectConfig(workspace.controlRoot),
    sessionBegan: state.began,
    // Whoever only asks what would be decided stands in nobody's way.
    claimTree: () => (turn.onlyChecks === true ? tree.look() : tree.claim()),
    sandboxed: place.isolation === "sandboxed",
    capabilities,
    emergency: services.emergency,
    ownDirectories: services.ownDirectories,
    rules: {
      current: () =>
        client === undefined ? governance.rules.current() : synced().then(() => governance.rules.current()),
      slow: governance.rules.slow,
    },
    gitContents: governance.gitContents,
    intentRules: () => synced().then(() => governance.intents.rules(state.activeIntentId)),
    hookPolicies: [
      ...createHookPolicies(hooks.hooks, { runner, cwd: workspace.controlRoot }),
      ...hooks.problems.map(createBrokenHooksPolicy),
    ],
  };
  const intents = await governance.intents.status();
  const offered = new Set([
    ...toolsInMode(scenario.tools, settings.editingMode),
    ...(intents.on ? ["select_active_intent", "request_scope_expansion"] : []),
    ...(canChange(scenario.tools) && settings.editingMode === "branch" ? ["record_lesson"] : []),
  ]);
  const tools = createTools({
    workspace,
    editor: bridge,
    blobs: services.blobs,
    knownFiles: turn.knownFiles ?? state.knownFiles,
    seen: session.seen,
    todos: { read: () => state.todos },
    intents: governance.intents,
    activeIntent: () => state.activeIntentId,
    home: client?.home ?? services.home,
    environment: services.commandEnvironment,
    sandbox: services.sandbox.state === "sandboxed" ? services.sandbox.shell : undefined,
    exclude: [...zeroAccessGlobs, ...rules.config.denyPaths, ...damageControl.searchExcludes],
    now: services.now,
  });
  const web = await services.loadWeb();
  if (web.enabled) tools.set("WebFetch", webFetchTool({ web: async () => web }));
  const skills = await loadSkills({
    root: workspace.controlRoot,
    userDirectory: services.configDir,
    mayRead: await createMayRead(session, signal),
  });
  if (bridge.can("diagnostics")) tools.set("Problems", problemsTool({ workspace, editor: bridge }));
  if (bridge.can("find-symbols")) tools.set("Symbols", symbolsTool({ workspace, editor: bridge }));
  if (skills.skills.size > 0) tools.set("Skill", skillTool({ workspace, skills: skills.skills }));
  if (client?.commands === "none") tools.delete("Bash");
  if (offered.has("Read")) for (const name of ["Problems", "Symbols", "Skill"]) offered.add(name);
  const ownTools = new Map([...tools].filter(([name]) => ownToolNames.has(name)));
  const repositoryChecks = new Map<string, ProjectCheck>();
  const bash = ownTools.get("Bash");
  if (bash !== undefined) ownTools.set("Bash", withCheckOperands(bash, repositoryChecks, workspace));
  for (const name of [...tools.keys()]) if (!offered.has(name)) tools.delete(name);
  const external =
    turn.onlyChecks === true || client !== undefined ? noTools : await services.mcp.tools(workspace, scenario.mcp);
  for (const tool of external.tools) {
    // Where nothing may be written, only what by the user's word only reads.
    if (settings.editingMode === "branch" || tool.access === "read") tools.set(tool.name, tool);
  }

  const kept = client === undefined ? services.checkpointsOf(workspace) : undefined;
  const checkpoints = new TurnCheckpoints({
    checkpoints: kept ?? noCheckpoints,
    sessionId: session.id,
    emit: (event, ofTurn) => writer.emit(event, { turnId: ofTurn }),
    beforeEnd: (work) => {
      session.beforeTurnEnds = work;
    },
  });
  for (const some of [tools, ownTools]) for (const [name, tool] of some) some.set(name, checkpoints.guard(tool));
  if (turn.onlyChecks !== true && settings.editingMode === "branch" && tools.has("Bash")) kept?.warmUp();

  const policies = [...turnPolicies(rules), checkpoints.policy, createCheckPolicy(repositoryChecks)];
  let onChanged: Parameters<TurnGate["onChanged"]>[0] | undefined;
  let observed: ObservedFile[] = [];
  const ownResult = (result: CallOutcome): void => {
    observed.push(...(result.outcome?.observed ?? []));
  };
  const journalOf = (nested?: Parameters<TaskPorts["govern"]>[1], own?: typeof ownResult) =>
    new SessionJournal({
      writer: nested?.writer ?? writer,
      blobs: services.blobs,
      context: {
        sessionId: session.id,
        modelId: turn.modelId,
        ...(nested === undefined ? {} : { parentCall: nested.parentToolCallId }),
        intent: () => state.activeIntentId,
        planStep: (turnId) => state.planStepOf(turnId),
        ...place,
        revision: async () => {
          const now = readGitHead(workspace.controlRoot);
          return (now.type === "none" ? undefined : now.commit) ?? "";
        },
      },
      now: services.now,
      observe: {
        kept: (sha256, content) => {
          session.keepText(sha256, content);
        },
        ...(own === undefined ? {} : { ownResult: own }),
        changed: (changes, callId) => {
          onChanged?.(
            changes.map(({ path }) => path),
            nested?.parentToolCallId ?? callId,
          );
          if (state.activeIntentId !== undefined) governance.intentMap.record(state.activeIntentId, changes);
        },
        violation: (violation) => {
          governance.rules.violation(violation);
        },
      },
    });
  const policySha256 = policyDigest(rules, policies, damageControl.sha256);
  const govern = (
    governed: ReadonlyMap<string, Tool>,
    nested?: Parameters<TaskPorts["govern"]>[1],
    own?: typeof ownResult,
  ): GovernedTools =>
    governTools({
      lasting:
        own === undefined ? undefined : lastingCheckAnswers(repositoryChecks, services.acceptedChecks(workspace)),
      sessionId: session.id,
      tools: governed,
      policies,
      confirmer: bridge,
      journal: withPostToolHooks(journalOf(nested, own), hooks.hooks, {
        runner,
        cwd: workspace.controlRoot,
        sessionId: session.id,
        signal,
      }),
      standingCheck: services.emergency.standingCheck,
      observer: services.observer.gate,
      redactor: services.redactor,
      remembered: turn.remembered ?? session.remembered,
      policySha256,
      intent: () => state.activeIntent,
      isolation: place.isolation,
      policyTimeoutMs,
      now: services.now,
    });
  if (turn.subAgents !== undefined) {
    for (const tool of taskTools({ ...turn.subAgents, session, scenario, tools: () => tools, govern })) {
      if (offered.has(tool.name)) tools.set(tool.name, tool);
    }
  }

  return {
    policySha256,
    tools: govern(tools),
    own: {
      tools: govern(ownTools, undefined, ownResult),
      editor: bridge,
      takeObserved: () => {
        const taken = observed;
        observed = [];
        return taken;
      },
      repositoryChecks,
      configuredCheck: rules.config.check,
      runsCommands: offered.has("Bash"),
    },
    onChanged: (listener) => {
      onChanged = listener;
    },
    warnings: [
      ...hooks.warnings,
      ...(client === undefined ? [] : warningsForClient(client, scenario)),
      ...external.warnings,
      ...skills.warnings,
      ...(web.problem === undefined ? [] : [web.problem]),
      ...intents.problems,
      ...governance.rules.status().problems,
      ...(problem === undefined ? [] : [`Only reading is permitted: ${problem}.`]),
    ],
    [Symbol.dispose]: () => {
      tree[Symbol.dispose]();
    },
  };
}
