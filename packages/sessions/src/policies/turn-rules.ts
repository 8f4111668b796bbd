import { longestYes } from "@gennai/governance/limits/laid-down";
import { limitsDigest, meet, problemOf, switchesLimit } from "@gennai/governance/limits/limits";
import type { BranchOffer, EditingMode } from "@gennai/governance/policies/branch";
import { zeroAccessGlobs } from "@gennai/governance/policies/files/secrets";
import type { TreeClaim } from "@gennai/governance/policies/files/single-writer";
import type { Policy } from "@gennai/governance/policy";
import { loadProjectConfig, type ProjectConfig } from "@gennai/machine/config/project-config";
import { readGitHead } from "@gennai/machine/git-data/git-head";
import type { ConfirmationScope } from "@gennai/protocol/model/governance/question";
import type { ZeroAccess } from "@gennai/shell/stages/stages";
import { SessionHooks } from "../rules/session-hooks.ts";
import type { Session } from "../session/session.ts";
import type { WorkspaceGovernance } from "../session/workspace-governance.ts";
import { policyDigest, type TurnPolicyOptions, turnPolicies } from "./turn-policies.ts";
import { zeroAccessOf } from "./zero-access.ts";

/** Milliseconds for which one read of the files that steer the agent is shared by the policies of a decision. */
const freshMs = 250;

/** What decides the calls of one turn. */
export interface TurnRules {
  readonly governance: WorkspaceGovernance;
  readonly config: ProjectConfig;
  readonly policies: readonly Policy[];
  /** Globs of files that no search may reach. */
  readonly searchExcludes: readonly string[];
  /** What rule files hide completely. */
  readonly zeroAccess: ZeroAccess;
  readonly hooks: SessionHooks;
  /** How long a yes lasts at most, by a policy in force. */
  readonly longestYes: ConfirmationScope | undefined;
  /** The workspace has intents and uses them. */
  readonly intentsOn: boolean;
  /** Warnings for the user about all but hooks. */
  readonly warnings: readonly string[];
  /** SHA-256 of the rules in force. @param policies all of them, including these */
  digest(policies: readonly Policy[]): string;
}

/**
 * The rules of a turn, as the project and the user configure them now. Throws `ServiceError` if they cannot be read.
 * @param options.editingMode in force in this turn
 * @param options.claimTree claims the working tree for this turn, at its first change
 */
export async function loadTurnRules(
  session: Session,
  options: {
    readonly editingMode: EditingMode;
    readonly claimTree: () => TreeClaim | Promise<TreeClaim>;
    /** The branch that a first write begins. */
    readonly branchOffer?: BranchOffer | undefined;
    readonly signal: AbortSignal;
  },
): Promise<TurnRules> {
  const { services, workspace, state } = session;
  const { client, controlRoot } = workspace;
  const head = readGitHead(controlRoot);
  // Always decide by the project's current files, wherever they are.
  const syncControl = async (): Promise<void> => workspace.syncControl({ maxAgeMs: freshMs, signal: options.signal });
  const governance = await services.governanceOf(workspace);
  const damageControl = await governance.rules.current();
  const limits = await services.loadLimits();
  const problem = problemOf(limits.current());
  const hooks = await SessionHooks.of(session);
  const config = await loadProjectConfig(controlRoot);
  const zeroAccess = zeroAccessOf(damageControl, workspace.root);
  const policyOptions: TurnPolicyOptions = {
    workspace,
    syncControl,
    config,
    limits: { current: () => meet(limits.current(), [switchesLimit(services.emergency.current())]) },
    limitsSha256: limitsDigest(limits.current()),
    editingMode: options.editingMode,
    sessionBranch: head.type === "branch" ? head.branch : undefined,
    protectedBranches: await services.protectedBranches(),
    claimTree: options.claimTree,
    branchOffer: options.branchOffer,
    isApart: () => client === undefined && services.stages?.open.of(session.id) !== undefined,
    ownDirectories: services.ownDirectories,
    rules: {
      current: () =>
        client === undefined ? governance.rules.current() : syncControl().then(() => governance.rules.current()),
      slow: governance.rules.slow,
    },
    isZeroAccess: (path) => zeroAccess.covers(path),
    gitContents: governance.gitContents,
    intentRules: () => syncControl().then(() => governance.intents.rules(state.activeIntentId)),
    hookPolicies: hooks.policies,
  };
  const intents = await governance.intents.status();
  return {
    governance,
    config,
    policies: turnPolicies(policyOptions),
    zeroAccess,
    searchExcludes: [...zeroAccessGlobs, ...config.denyPaths, ...damageControl.searchExcludes],
    hooks,
    longestYes: longestYes(limits.current()),
    intentsOn: intents.on,
    warnings: [
      ...intents.problems,
      ...governance.rules.status().problems,
      ...limits.warnings,
      ...(problem === undefined ? [] : [`Only reading is permitted: ${problem}.`]),
    ],
    digest: (policies) => policyDigest(policyOptions, policies, damageControl.sha256),
  };
}
