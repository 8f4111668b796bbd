import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import type { GitContentsPorts } from "@gennai/governance/policies/git/git-contents";
import type { CompiledRules } from "@gennai/governance/rules/compile/compile-rules";
import { isWithin } from "../../sandbox/host/host-layout.ts";
import { confirmedRepository } from "../run/confirmed-repository.ts";
import { judgeBy } from "./judge-by-rules.ts";
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
