import type { GitContents } from "../command-analysis.ts";
import type { Policy } from "../policy.ts";
import { shownNames } from "../shown-names.ts";
import { allow, ask, deny, strictest, type Verdict } from "../verdict.ts";

/** Files a git command would print that the agent may not read. */
export type PrintedSecrets =
  | { readonly type: "none" }
  /** Relative to the workspace or the repository. */
  | { readonly type: "some"; readonly refused: readonly string[]; readonly doubtful: readonly string[] }
  /** Unknown, and the repository has such files. */
  | { readonly type: "unknown"; readonly why: string };

export interface GitContentsPorts {
  printed(contents: GitContents, options: { readonly signal: AbortSignal }): Promise<PrintedSecrets>;
}

/** Milliseconds: git looks through the history the first time. */
const timeoutMs = 20_000;

/**
 * What `Read` may not show, git must not print either: changes, matching lines or objects of files with secrets, if these were
 * ever committed. If the repository knows no such file, nothing is asked.
 */
export function createGitContentsPolicy({ printed }: GitContentsPorts): Policy {
  return {
    name: "git-contents",
    kind: "guard",
    timeoutMs,
    async decide({ analysis }, { signal }) {
      const contents = analysis.effects.flatMap((effect) => (effect.type === "exec" ? effect.command.contents : []));
      const verdicts: Verdict[] = [allow];
      for (const each of contents) verdicts.push(verdictOf(each, await printed(each, { signal })));
      return strictest(verdicts);
    },
  };
}

function verdictOf({ subcommand }: GitContents, found: PrintedSecrets): Verdict {
  switch (found.type) {
    case "none":
      return allow;
    case "unknown":
      return ask({
        code: "zero_access",
        rule: "secrets/git-contents",
        reason: `\`git ${subcommand}\` may print files that hold secrets: ${found.why}.`,
        hint: "Name the files or directories it is about, behind `--`.",
      });
    case "some": {
      const { refused, doubtful } = found;
      const paths = refused.length > 0 ? refused : doubtful;
      const finding = {
        code: "zero_access",
        rule: "secrets/git-contents",
        reason: `\`git ${subcommand}\` would print ${shownNames(paths, shown)}, whose content is not for the agent.`,
        hint: excludeHint(subcommand, paths),
      };
      return refused.length > 0
        ? deny({ ...finding, reason: `Security Policy Violation: ${finding.reason}` })
        : ask({
            ...finding,
            reason: `\`git ${subcommand}\` would print ${shownNames(paths, shown)}, which may hold tokens.`,
          });
    }
  }
}

const shown = 5;

function excludeHint(subcommand: string, paths: readonly string[]): string {
  if (subcommand === "cat-file") return "Work without its content, or ask the user for the one fact you need.";
  const plain = paths.slice(0, shown).filter((path) => /^[\w./@+-]+$/.test(path));
  const words = plain.map((path) => `':(exclude,top)${path}'`).join(" ");
  return `Leave it out: git ${subcommand} … -- ${words === "" ? "the paths you mean" : `. ${words}`}`;
}
