import { relative, sep } from "node:path";
import { secretPath } from "@gennai/governance/command/secret-paths";
import { type CommandSurroundings, createCommandsPolicy } from "@gennai/governance/policies/commands";
import { createContainmentPolicy } from "@gennai/governance/policies/files/containment";
import { createControlFilesPolicy } from "@gennai/governance/policies/files/control-files";
import { createFoundWritesPolicy } from "@gennai/governance/policies/files/found-writes";
import { createFreshnessPolicy } from "@gennai/governance/policies/files/freshness";
import { createPathListsPolicy } from "@gennai/governance/policies/files/path-lists";
import { createRedactionMarkerPolicy } from "@gennai/governance/policies/files/redaction-marker";
import { createSecretsPolicy } from "@gennai/governance/policies/files/secrets";
import { createGitChangesPolicy } from "@gennai/governance/policies/git-changes";
import { createGitContentsPolicy, type GitContentsPorts } from "@gennai/governance/policies/git-contents";
import { createHighRiskPolicy } from "@gennai/governance/policies/high-risk";
import type { Policy } from "@gennai/governance/policy";
import { createRulesPolicy, type RulesPolicyPorts } from "@gennai/governance/rules/rules-policy";
import { ToolFailure } from "@gennai/governance/tool-error";
import { loadProjectConfig, type ProjectConfig } from "@gennai/machine/config/project-config";
import { hooksDirectory } from "@gennai/machine/git-data/hooks-directory";
import { resolvePath } from "@gennai/machine/workspace/paths/resolve-path";
import type { Listing, Workspace } from "@gennai/machine/workspace/workspace";
import type { Session } from "../session/session.ts";
import { type BranchRules, branchState, protectionOf } from "./own-branch.ts";
import { reachesSecret } from "./reaches-secret.ts";

export interface CallPolicyOptions {
  readonly workspace: Workspace;
  readonly config: ProjectConfig;
  /** Absolute paths of the server's own directories. */
  readonly ownDirectories: readonly string[];
  /** What a session's commands may do without a question; absent: only proven reads. */
  readonly commands?: CommandSurroundings;
  readonly rules: RulesPolicyPorts;
}

/** The policies that judge a call on its own, independent of the session: all except branch, claim, intent and hooks. */
function callPolicies(options: CallPolicyOptions): readonly Policy[] {
  const { workspace, config, ownDirectories } = options;
  const { root, controlRoot } = workspace;
  const hooks = hooksDirectory(controlRoot);
  const directories = [
    ...ownDirectories.map((directory) => relative(root, directory)),
    // Relative to the client's root, if it holds the files: the mirror replaces the root.
    ...(hooks === undefined ? [] : [relative(hooks.startsWith(root) ? root : controlRoot, hooks)]),
  ]
    .map((path) => path.replaceAll(sep, "/"))
    .filter((path) => path !== "" && path !== ".." && !path.startsWith("../.."));
  const leadsTo = (path: string): string => {
    try {
      return resolvePath(root, path, { isRecorded: true }).absolute;
    } catch (error) {
      // No program gets through it either: a loop of links, a file on the way.
      if (error instanceof ToolFailure) return path;
      throw error;
    }
  };
  return [
    createContainmentPolicy({ root, realPath: workspace.client === undefined ? leadsTo : undefined }),
    createControlFilesPolicy({ root, directories, entriesIn: (directory) => entriesIn(workspace, directory) }),
    createSecretsPolicy(),
    createPathListsPolicy({ allow: config.allowPaths, deny: config.denyPaths }),
    createCommandsPolicy({ surroundings: options.commands, rules: options.rules }),
    createHighRiskPolicy(),
    createFreshnessPolicy(),
    createRedactionMarkerPolicy(),
  ];
}

export interface WorkPolicyOptions extends Omit<CallPolicyOptions, "commands"> {
  readonly place: BranchRules;
  /** Whether rules hide a path (absolute) completely. */
  readonly isZeroAccess: (path: string) => boolean;
  readonly gitContents: GitContentsPorts;
}

/** Besides these, those that judge what commands read and change: for a turn, and for those who ask what it would be told. */
export function workPolicies(options: WorkPolicyOptions): readonly Policy[] {
  const { workspace, place, isZeroAccess } = options;
  const isSecret = (path: string): boolean => secretPath(path) !== undefined || isZeroAccess(path);
  const reaches = (path: string, isPattern: boolean): boolean => reachesSecret(path, isSecret, isPattern);
  return [
    createFoundWritesPolicy(),
    createGitChangesPolicy({
      protectedBy: (branch) => protectionOf(place, branch),
      branch: () => {
        const state = branchState(place);
        return state.type === "branch" ? state.branch : undefined;
      },
    }),
    ...callPolicies({
      ...options,
      commands: { reachesSecret: workspace.client === undefined ? reaches : undefined },
    }),
    createGitContentsPolicy(options.gitContents),
  ];
}

/** More than a directory that people work in has. */
const maxEntries = 10_000;

async function entriesIn(workspace: Workspace, directory: string): Promise<Listing["entries"]> {
  const path = await workspace.resolve(directory === "" ? "." : directory, { isRecorded: true });
  if (!path.inside || (await workspace.stat(path))?.kind !== "directory") return [];
  return (await workspace.list(path, { ignore: [], limit: maxEntries })).entries;
}

/**
 * Rules about paths and content for every writer in a session's workspace: from rule files, the project and the built-in ones.
 * Throws `ServiceError` if the project's configuration cannot be read.
 */
export async function workspacePolicies({
  workspace,
  services,
}: Pick<Session, "workspace" | "services">): Promise<readonly Policy[]> {
  const { rules } = await services.governanceOf(workspace);
  return [
    createRulesPolicy(rules),
    ...callPolicies({
      workspace,
      config: await loadProjectConfig(workspace.controlRoot),
      ownDirectories: services.ownDirectories,
      rules,
    }),
  ];
}
