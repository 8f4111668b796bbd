import { createIntentsPolicy, type IntentRules } from "@gennai/governance/intents/intents-policy";
import { createScopeExpansionPolicy } from "@gennai/governance/intents/scope-expansion-policy";
import { longestYes } from "@gennai/governance/limits/laid-down";
import { type Limits, limitsDigest, meet, problemOf, switchesLimit } from "@gennai/governance/limits/limits";
import { createLimitsPolicy } from "@gennai/governance/limits/limits-policy";
import { needingTwoPersons, type SecondPersonState } from "@gennai/governance/limits/two-persons";
import { type BranchOffer, createBranchPolicy, type EditingMode } from "@gennai/governance/policies/branch";
import { createConnectionsPolicy } from "@gennai/governance/policies/connections";
import { createExternalToolsPolicy } from "@gennai/governance/policies/external-tools";
import { zeroAccessGlobs } from "@gennai/governance/policies/files/secrets";
import { createSingleWriterPolicy, type TreeClaim } from "@gennai/governance/policies/files/single-writer";
import type { Policy } from "@gennai/governance/policy";
import { createRulesPolicy } from "@gennai/governance/rules/rules-policy";
import { loadProjectConfig, type ProjectConfig } from "@gennai/machine/config/project-config";
import { readGitHead } from "@gennai/machine/git-data/git-head";
import { digestOf } from "@gennai/protocol/digest";
import type { ConfirmationScope } from "@gennai/protocol/model/governance/question";
import type { ZeroAccess } from "@gennai/shell/stages/stages";
import { SessionHooks } from "../rules/session-hooks.ts";
import type { Session } from "../session/session.ts";
import type { WorkspaceGovernance } from "../session/workspace-governance.ts";
import { type WorkPolicyOptions, workPolicies } from "./call-policies.ts";
import { branchState, protectionOf } from "./own-branch.ts";
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
    second: services.secondPerson === undefined ? "unavailable" : "reachable",
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

interface TurnPolicyOptions extends Omit<WorkPolicyOptions, "place"> {
  /** Updates `controlRoot` from where the files are. Rejects if that is impossible. */
  readonly syncControl: () => Promise<void>;
  readonly editingMode: EditingMode;
  /** Branch of HEAD when the turn began. */
  readonly sessionBranch: string | undefined;
  /** Globs of further protected branches. */
  readonly protectedBranches: readonly string[];
  /** The branch that a first write begins; undefined if none does. */
  readonly branchOffer: BranchOffer | undefined;
  /** As in `BranchPolicyOptions`. */
  readonly isApart?: (() => boolean) | undefined;
  readonly claimTree: () => TreeClaim | Promise<TreeClaim>;
  /** With the emergency controls, fresh at every call. */
  readonly limits: { current(): Limits };
  /** SHA-256 of the limits without these. */
  readonly limitsSha256: string;
  /** Rules about intents at this moment. */
  readonly intentRules: () => Promise<IntentRules>;
  readonly second: SecondPersonState;
  /** Policies of users' external hooks. */
  readonly hookPolicies: readonly Policy[];
}

/** The rules of one turn. All of them run for every call, in the order in which users read them. */
export function turnPolicies(options: TurnPolicyOptions): readonly Policy[] {
  const { config } = options;
  const { root, controlRoot } = options.workspace;
  const protectedBranches = [...options.protectedBranches, ...config.protectedBranches];
  const place = { ...options, controlRoot, protectedBranches };
  const policies = [
    createLimitsPolicy(options.limits),
    createRulesPolicy(options.rules),
    createIntentsPolicy({ root, rules: options.intentRules }),
    createScopeExpansionPolicy(),
    createExternalToolsPolicy(),
    createConnectionsPolicy(),
    ...workPolicies({ ...options, place }),
    createBranchPolicy({
      mode: options.editingMode,
      readBranch: async () => {
        await options.syncControl();
        return branchState(place);
      },
      protectedBy: (branch) => protectionOf(place, branch),
      offer: options.branchOffer,
      isApart: options.isApart,
    }),
    createSingleWriterPolicy(options.claimTree),
    ...options.hookPolicies,
  ];
  return needingTwoPersons(policies, { current: () => options.limits.current(), second: options.second });
}

/**
 * Digest of the rules in force, for questions and records.
 * @param rulesSha256 of the rule files
 */
function policyDigest(options: TurnPolicyOptions, policies: readonly Policy[], rulesSha256: string): string {
  const { editingMode, protectedBranches, config, limitsSha256 } = options;
  const lists = { allow: config.allowPaths ?? null, deny: config.denyPaths, branches: config.protectedBranches };
  const hooks = policies.map(({ name, kind }) => ({ name, kind }));
  return digestOf({ editingMode, protectedBranches, lists, rulesSha256, limitsSha256, policies: hooks });
}
