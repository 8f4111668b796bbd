import { secretPath } from "@gennai/governance/command/secret-paths";
import { createIntentsPolicy, type IntentRules } from "@gennai/governance/intents/intents-policy";
import { createScopeExpansionPolicy } from "@gennai/governance/intents/scope-expansion-policy";
import type { Limits } from "@gennai/governance/limits/limits";
import { createLimitsPolicy } from "@gennai/governance/limits/limits-policy";
import { needingTwoPersons } from "@gennai/governance/limits/two-persons";
import { type BranchOffer, createBranchPolicy, type EditingMode } from "@gennai/governance/policies/branch";
import { createConnectionsPolicy } from "@gennai/governance/policies/connections";
import { createExternalToolsPolicy } from "@gennai/governance/policies/external-tools";
import { createFoundWritesPolicy } from "@gennai/governance/policies/files/found-writes";
import { createSingleWriterPolicy, type TreeClaim } from "@gennai/governance/policies/files/single-writer";
import { createGitChangesPolicy } from "@gennai/governance/policies/git-changes";
import { createGitContentsPolicy, type GitContentsPorts } from "@gennai/governance/policies/git-contents";
import type { Policy } from "@gennai/governance/policy";
import { createRulesPolicy, type RulesPolicyPorts } from "@gennai/governance/rules/rules-policy";
import type { ProjectConfig } from "@gennai/machine/config/project-config";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import { digestOf } from "@gennai/protocol/digest";
import { callPolicies } from "./call-policies.ts";
import { branchState, protectionOf } from "./own-branch.ts";
import { reachesSecret } from "./reaches-secret.ts";

export interface TurnPolicyOptions {
  readonly workspace: Workspace;
  /** Updates `controlRoot` from where the files are. Rejects if that is impossible. */
  readonly syncControl: () => Promise<void>;
  readonly editingMode: EditingMode;
  /** Branch of HEAD when the turn began. */
  readonly sessionBranch: string | undefined;
  /** Globs of further protected branches. */
  readonly protectedBranches: readonly string[];
  readonly config: ProjectConfig;
  /** The branch that a first write begins; undefined if none does. */
  readonly branchOffer: BranchOffer | undefined;
  /** As in `BranchPolicyOptions`. */
  readonly isApart?: (() => boolean) | undefined;
  readonly claimTree: () => TreeClaim | Promise<TreeClaim>;
  /** With the emergency controls, fresh at every call. */
  readonly limits: { current(): Limits };
  /** SHA-256 of the limits without these. */
  readonly limitsSha256: string;
  /** Absolute paths of the server's own directories. */
  readonly ownDirectories: readonly string[];
  readonly rules: RulesPolicyPorts;
  /** Whether rules hide a path (absolute) completely. */
  readonly isZeroAccess: (path: string) => boolean;
  readonly gitContents: GitContentsPorts;
  /** Rules about intents at this moment. */
  readonly intentRules: () => Promise<IntentRules>;
  /** Policies of users' external hooks. */
  readonly hookPolicies: readonly Policy[];
}

/** The rules of one turn. All of them run for every call, in the order in which users read them. */
export function turnPolicies(options: TurnPolicyOptions): readonly Policy[] {
  const { workspace, config, ownDirectories } = options;
  const { root, controlRoot } = workspace;
  const protectedBranches = [...options.protectedBranches, ...config.protectedBranches];
  const place = { ...options, controlRoot, protectedBranches };
  const policies = [
    createLimitsPolicy(options.limits),
    createRulesPolicy(options.rules),
    createIntentsPolicy({ root, rules: options.intentRules }),
    createScopeExpansionPolicy(),
    createExternalToolsPolicy(),
    createConnectionsPolicy(),
    createFoundWritesPolicy(),
    createGitChangesPolicy({
      protectedBy: (branch) => protectionOf(place, branch),
      branch: () => {
        const state = branchState(place);
        return state.type === "branch" ? state.branch : undefined;
      },
    }),
    ...callPolicies({
      workspace,
      config,
      ownDirectories,
      rules: options.rules,
      commands: { reachesSecret: workspace.client !== undefined ? undefined : secretsReached(options) },
    }),
    createGitContentsPolicy(options.gitContents),
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
  return needingTwoPersons(policies, options.limits);
}

function secretsReached({ isZeroAccess }: TurnPolicyOptions): (path: string, isPattern: boolean) => boolean {
  const isSecret = (path: string): boolean => secretPath(path) !== undefined || isZeroAccess(path);
  return (path, isPattern) => reachesSecret(path, isSecret, isPattern);
}

/**
 * Digest of the rules in force, for questions and records.
 * @param rulesSha256 of the rule files
 */
export function policyDigest(options: TurnPolicyOptions, policies: readonly Policy[], rulesSha256: string): string {
  const { editingMode, protectedBranches, config, limitsSha256 } = options;
  const lists = { allow: config.allowPaths ?? null, deny: config.denyPaths, branches: config.protectedBranches };
  const hooks = policies.map(({ name, kind }) => ({ name, kind }));
  return digestOf({ editingMode, protectedBranches, lists, rulesSha256, limitsSha256, policies: hooks });
}
