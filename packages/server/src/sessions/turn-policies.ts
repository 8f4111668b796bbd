import type { EditingMode } from "@gennai/agent/session-settings";
import { type BranchState, createBranchPolicy, isProtectedBranch } from "@gennai/governance/policies/branch";
import { createCommandsPolicy } from "@gennai/governance/policies/commands";
import { createContainmentPolicy } from "@gennai/governance/policies/containment";
import { createControlFilesPolicy } from "@gennai/governance/policies/control-files";
import { createFreshnessPolicy } from "@gennai/governance/policies/freshness";
import { createHighRiskPolicy } from "@gennai/governance/policies/high-risk";
import { createPathListsPolicy } from "@gennai/governance/policies/path-lists";
import { createRedactionMarkerPolicy } from "@gennai/governance/policies/redaction-marker";
import { createSecretsPolicy } from "@gennai/governance/policies/secrets";
import { createSingleWriterPolicy, type TreeClaim } from "@gennai/governance/policies/single-writer";
import type { Policy } from "@gennai/governance/policy";
import { digestOf } from "@gennai/protocol/digest";
import type { ProjectConfig } from "../config/project-config.ts";
import { defaultRemoteBranch, readGitHead } from "../workspace/git-head.ts";

export interface TurnPolicyOptions {
  readonly workspaceRoot: string;
  readonly editingMode: EditingMode;
  /** Branch that HEAD stood on when the turn began. */
  readonly sessionBranch: string | undefined;
  /** Globs of further branches nobody writes on. */
  readonly protectedBranches: readonly string[];
  readonly config: ProjectConfig;
  readonly claimTree: () => TreeClaim;
}

/** The rules of one turn. All of them run for every call; the order is the one in which people read them. */
export function turnPolicies(options: TurnPolicyOptions): readonly Policy[] {
  const root = options.workspaceRoot;
  return [
    createContainmentPolicy({ root }),
    createControlFilesPolicy({ root }),
    createSecretsPolicy(),
    createPathListsPolicy({ allow: options.config.allowPaths, deny: options.config.denyPaths }),
    createCommandsPolicy(),
    createHighRiskPolicy(),
    createFreshnessPolicy(),
    createBranchPolicy({ mode: options.editingMode, readBranch: async () => branchState(options) }),
    createRedactionMarkerPolicy(),
    createSingleWriterPolicy(options.claimTree),
  ];
}

/** What the rules in force are, for questions and records. */
export function policyDigest(options: TurnPolicyOptions, policies: readonly Policy[]): string {
  const { editingMode, protectedBranches, config } = options;
  const lists = { allow: config.allowPaths ?? null, deny: config.denyPaths, branches: config.protectedBranches };
  return digestOf({ editingMode, protectedBranches, lists, policies: policies.map(({ name, kind }) => ({ name, kind })) });
}

function branchState(options: TurnPolicyOptions): BranchState {
  const head = readGitHead(options.workspaceRoot);
  if (head.type !== "branch") return { type: head.type };
  const protectedBy = isProtectedBranch(head.branch, {
    extra: [...options.protectedBranches, ...options.config.protectedBranches],
    remoteDefault: defaultRemoteBranch(options.workspaceRoot),
  });
  return { type: "branch", branch: head.branch, sessionBranch: options.sessionBranch, protectedBy };
}
