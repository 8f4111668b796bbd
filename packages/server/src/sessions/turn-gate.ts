import type { Scenario } from "@gennai/agent/scenarios/scenario";
import { canChange, toolsInMode } from "@gennai/agent/scenarios/tool-groups";
import { type GovernedTools, governTools } from "@gennai/governance/gate/gate";
import type { RememberedAnswers } from "@gennai/governance/gate/remembered-answers";
import { withPostToolHooks } from "@gennai/governance/hooks/hooks-journal";
import { createBrokenHooksPolicy, createHookPolicies } from "@gennai/governance/hooks/hooks-policy";
import { zeroAccessGlobs } from "@gennai/governance/policies/secrets";
import { SessionBridge } from "../bridge/session-bridge.ts";
import { loadProjectConfig } from "../config/project-config.ts";
import { createHookRunner } from "../hooks/run-hook.ts";
import type { OfferedTools } from "../mcp/mcp-servers.ts";
import { createTools } from "../tools/tool-set.ts";
import { webFetchTool } from "../web/web-fetch-tool.ts";
import { readGitHead } from "../workspace/git-head.ts";
import type { KnownFiles } from "./known-files.ts";
import type { Session } from "./session.ts";
import { SessionJournal } from "./session-journal.ts";
import { TreeClaimant } from "./tree-claimant.ts";
import { policyDigest, type TurnPolicyOptions, turnPolicies } from "./turn-policies.ts";

const noTools: OfferedTools = { tools: [], warnings: [] };

/** Milliseconds a policy may take. */
const policyTimeoutMs = 5_000;

/** The tools of one turn behind its gate. Disposing gives up the claim to the working tree. */
export interface TurnGate extends Disposable {
  readonly tools: GovernedTools;
  /** What the user should know before the turn runs. */
  readonly warnings: readonly string[];
  /** SHA-256 of the rules in force. */
  readonly policySha256: string;
}

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
    /** In place of the session's remembered answers. */
    readonly remembered?: RememberedAnswers;
  },
): Promise<TurnGate> {
  const { services, settings, workspace, state, writer } = session;
  const { turnId, signal } = turn;
  const head = readGitHead(workspace.root);

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
  const hooks = await services.loadHooks(workspace.root);
  const runner = createHookRunner({ cwd: workspace.root, environment: services.commandEnvironment });
  const tree = new TreeClaimant(services.locks, workspace.root, session.id);
  const rules: TurnPolicyOptions = {
    workspaceRoot: workspace.root,
    editingMode: settings.editingMode,
    sessionBranch: head.type === "branch" ? head.branch : undefined,
    protectedBranches: services.protectedBranches,
    config: await loadProjectConfig(workspace.root),
    // Whoever only asks what would be decided stands in nobody's way.
    claimTree: () => (turn.onlyChecks === true ? tree.look() : tree.claim()),
    sandboxed: services.sandbox.state === "sandboxed",
    capabilities,
    emergency: services.emergency,
    ownDirectories: services.ownDirectories,
    rules: { current: () => governance.rules.current(), slow: governance.rules.slow },
    intentRules: () => governance.intents.rules(state.activeIntentId),
    hookPolicies: [
      ...createHookPolicies(hooks.hooks, { runner, cwd: workspace.root }),
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
    home: services.home,
    environment: services.commandEnvironment,
    sandbox: services.sandbox.state === "sandboxed" ? services.sandbox.shell : undefined,
    exclude: [...zeroAccessGlobs, ...rules.config.denyPaths, ...damageControl.searchExcludes],
    now: services.now,
  });
  const web = await services.loadWeb();
  if (web.enabled) tools.set("WebFetch", webFetchTool({ web: async () => web }));
  for (const name of [...tools.keys()]) if (!offered.has(name)) tools.delete(name);
  const external = turn.onlyChecks === true ? noTools : await services.mcp.tools(workspace, scenario.mcp);
  for (const tool of external.tools) {
    // Where nothing may be written, only what by the user's word only reads.
    if (settings.editingMode === "branch" || tool.access === "read") tools.set(tool.name, tool);
  }

  const policies = turnPolicies(rules);
  const journal = new SessionJournal({
    writer,
    blobs: services.blobs,
    context: {
      sessionId: session.id,
      modelId: turn.modelId,
      intent: () => state.activeIntentId,
      isolation: services.isolation,
      isolationReason: services.sandbox.reason,
      revision: async () => {
        const now = readGitHead(workspace.root);
        return (now.type === "none" ? undefined : now.commit) ?? "";
      },
    },
    now: services.now,
    observe: {
      kept: (sha256, content) => {
        session.keepText(sha256, content);
      },
      changed: (changes) => {
        if (state.activeIntentId !== undefined) governance.intentMap.record(state.activeIntentId, changes);
      },
      violation: (violation) => {
        governance.rules.violation(violation);
      },
    },
  });
  const policySha256 = policyDigest(rules, policies, damageControl.sha256);
  return {
    policySha256,
    tools: governTools({
      sessionId: session.id,
      tools,
      policies,
      confirmer: bridge,
      journal: withPostToolHooks(journal, hooks.hooks, {
        runner,
        cwd: workspace.root,
        sessionId: session.id,
        signal,
      }),
      standingCheck: services.emergency.standingCheck,
      redactor: services.redactor,
      remembered: turn.remembered ?? session.remembered,
      policySha256,
      intent: () => state.activeIntent,
      isolation: services.isolation,
      policyTimeoutMs,
      now: services.now,
    }),
    warnings: [
      ...hooks.warnings,
      ...external.warnings,
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
