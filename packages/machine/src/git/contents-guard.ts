import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { secretPath } from "@gennai/governance/command/secret-paths";
import type { GitContentsPorts } from "@gennai/governance/policies/git-contents";
import { isZeroAccess } from "@gennai/governance/policies/secrets";
import { type CompiledRules, pathRule } from "@gennai/governance/rules/compile-rules";
import { pathForm, rawForm } from "@gennai/governance/rules/path-form";
import { isWithin } from "../sandbox/host-layout.ts";
import { confirmedRepository } from "./confirmed-repository.ts";
import type { PathJudge } from "./known-secrets.ts";
import { SecretsInGit } from "./printed-secrets.ts";

/** What git would print of files that `Read` refuses, under the rules in force. What was learned of a history is kept. */
export function gitContentsGuard(current: () => CompiledRules | Promise<CompiledRules>): GitContentsPorts {
  let known: { readonly rules: string; readonly secrets: SecretsInGit } | undefined;
  return {
    async printed(contents, options) {
      const rules = await current();
      if (contents.directory !== undefined && !isOfWorkspace(contents.directory, rules.place.root)) {
        return { type: "unknown", why: "it reads a repository outside the workspace" };
      }
      if (known?.rules !== rules.sha256) known = { rules: rules.sha256, secrets: new SecretsInGit(judgeBy(rules)) };
      return known.secrets.printed(contents, options);
    },
  };
}

/** For a repository that lies where no git of this machine reaches: nothing is known, so a person looks. */
export const gitElsewhere: GitContentsPorts = {
  printed: async () => ({ type: "unknown", why: "the repository does not lie on the server's machine" }),
};

/** Whether a directory lies in the workspace, or beside it in the same working tree: of others, git is asked nothing. */
function isOfWorkspace(directory: string, root: string): boolean {
  try {
    const real = realpathSync(directory);
    return (
      isWithin(real, realpathSync(root)) ||
      isWithin(real, confirmedRepository(realpathSync(root), homedir())?.workTree ?? root)
    );
  } catch {
    return false;
  }
}

function judgeBy(rules: CompiledRules): PathJudge {
  const { root } = rules.place;
  return (path) => {
    if (secretPath(path) !== undefined) return "refused";
    const forms = [pathForm(`${root}/${path}`, root), rawForm(path, rules.place)];
    if (pathRule(rules, "zero", forms) !== undefined) return "refused";
    return isZeroAccess(path) ? "doubtful" : "allowed";
  };
}
