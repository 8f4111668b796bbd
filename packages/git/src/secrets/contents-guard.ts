import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import type { GitContentsPorts } from "@gennai/governance/policies/git-contents";
import type { CompiledRules } from "@gennai/governance/rules/compile/compile-rules";
import { isWithin } from "@gennai/protocol/is-within";
import { confirmedRepository } from "../run/confirmed-repository.ts";
import { judgeBy } from "./judge-by-rules.ts";
import { SecretsInGit } from "./printed-secrets.ts";

/** Tells which files that `Read` refuses git would print, under the present rules. Remembers what it learned of a history. */
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

/** For a repository that no git of this machine reaches: nothing is known, so a person decides. */
export const gitElsewhere: GitContentsPorts = {
  printed: async () => ({ type: "unknown", why: "the repository does not lie on the server's machine" }),
};

/** Whether a directory is in the workspace, or in the same working tree; git is not asked about any other. */
function isOfWorkspace(directory: string, root: string): boolean {
  try {
    const real = realpathSync(directory);
    return (
      isWithin(real, { directory: realpathSync(root) }) ||
      isWithin(real, { directory: confirmedRepository(realpathSync(root), homedir())?.workTree ?? root })
    );
  } catch {
    return false;
  }
}
