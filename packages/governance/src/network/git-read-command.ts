import { quotedCommand } from "../command/shell-words.ts";
import { oneCommand } from "./one-command.ts";

/** `git fetch`, `pull`, `ls-remote` or `clone`, with the words that are passed to the git that has a login. */
export interface GitReadCommand {
  readonly verb: "fetch" | "ls-remote" | "clone";
  readonly options: readonly string[];
  /** The name of a remote, or its address; undefined where git chooses. Of a clone always its address. */
  readonly remote: string | undefined;
  /** References; of a clone its directory, when it is named. */
  readonly operands: readonly string[];
  /** For a pull: the shell command for what it does after fetching. */
  readonly behind?: string;
}

/** Undefined for another command, and for options that would lead git elsewhere or name a program. @param text for the shell */
export function gitReadCommand(text: string): GitReadCommand | undefined {
  const [program, verb = "", ...words] = oneCommand(text) ?? [];
  const known = program === "git" && Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  const read = known === undefined ? undefined : sorted(words, known);
  if (read === undefined) return undefined;
  const { options, operands, own } = read;
  const [remote, ...more] = operands;
  if (operands.some((operand) => operand === "" || operand.startsWith("-"))) return undefined;
  if (verb === "clone") {
    return remote === undefined || more.length > 1 ? undefined : { verb, options, remote, operands: more };
  }
  if (verb === "ls-remote") return { verb, options, remote, operands: more };
  const fetch = { verb: "fetch", options, remote, operands: more } as const;
  return verb === "pull" ? { ...fetch, behind: integration(own) } : fetch;
}

interface Verb {
  /** Go on to the git that has the login. */
  readonly options: RegExp;
  /** Options whose value may be the next word. */
  readonly withValue?: RegExp;
  /** Say what happens behind it. */
  readonly own?: RegExp;
}

const fetchOptions =
  /^(?:-[qvptf46]+|--(?:quiet|verbose|no-progress|progress|prune|prune-tags|tags|no-tags|force|atomic|unshallow|update-shallow|ipv[46]|depth=\d+|deepen=\d+|shallow-since=[\w .:-]+|no-recurse-submodules|dry-run|porcelain))$/;

const verbs: Readonly<Record<string, Verb>> = {
  fetch: { options: fetchOptions, withValue: /^--(?:depth|deepen)$/ },
  pull: {
    options: fetchOptions,
    withValue: /^--(?:depth|deepen)$/,
    own: /^(?:-r|--(?:rebase(?:=(?:true|false|merges))?|no-rebase|ff|ff-only|no-ff|no-edit|autostash|no-autostash|squash|stat|no-stat))$/,
  },
  "ls-remote": {
    options: /^(?:-[qht]+|--(?:quiet|heads|branches|tags|refs|get-url|exit-code|symref|sort=[\w:-]+))$/,
  },
  clone: {
    options:
      /^(?:-[qvn]+|--(?:quiet|verbose|progress|no-progress|no-checkout|single-branch|no-single-branch|tags|no-tags|bare|mirror|no-recurse-submodules|depth=\d+|(?:branch|origin)=[\w][\w./-]*))$/,
    withValue: /^(?:-b|-o|--(?:branch|origin|depth))$/,
  },
};

const shortNames: Readonly<Record<string, string>> = { "-b": "--branch", "-o": "--origin" };

function sorted(words: readonly string[], { options: known, withValue, own: ofPull }: Verb) {
  const options: string[] = [];
  const operands: string[] = [];
  const own: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (!word.startsWith("-")) operands.push(word);
    else if (ofPull?.test(word) === true) own.push(word);
    else {
      const whole = withValue?.test(word) === true ? `${shortNames[word] ?? word}=${words[((at += 1))] ?? ""}` : word;
      if (!known.test(whole)) return undefined;
      options.push(whole);
    }
  }
  return { options, operands, own };
}

/**
 * Shell command. What `git pull` would do after fetching, according to its words and the settings there, in the run without
 * network and login: there, hooks, filters and merge drivers may run.
 */
function integration(own: readonly string[]): string {
  const rebases = own.findLast((word) => /^(?:-r|--(?:no-)?rebase)/.test(word));
  const others = own.filter((word) => word !== rebases && !/^(?:-r|--(?:no-)?rebase)/.test(word));
  const stashes = others.filter((word) => word.endsWith("autostash"));
  const merge = (...more: readonly string[]) =>
    quotedCommand(["git", "merge", ...new Set(["--no-edit", ...more, ...others]), "FETCH_HEAD"]);
  const rebase = (...more: readonly string[]) => quotedCommand(["git", "rebase", ...more, ...stashes, "FETCH_HEAD"]);
  const nothing = `grep -qv not-for-merge "$(git rev-parse --git-path FETCH_HEAD)" || { echo "There is no tracking information for the current branch: name the remote and the branch." >&2; exit 1; }`;
  const byWord =
    rebases === undefined
      ? undefined
      : /no-rebase|=false/.test(rebases)
        ? merge()
        : rebase(...(rebases.endsWith("=merges") ? ["--rebase-merges"] : []));
  const says = others.some((word) => /^--(?:no-)?ff|^--squash/.test(word));
  const bySettings = [
    `how=$(git config --get "branch.$(git symbolic-ref --short -q HEAD).rebase" || git config --get pull.rebase || echo unset)`,
    `ff=$(git config --get pull.ff || echo unset)`,
    `case "$how:$ff" in`,
    // Like git itself: diverged branches need a decision.
    `unset:unset|unset:only|false:only) ${merge(...(says ? [] : ["--ff-only"]))} ;;`,
    `unset:false|false:false) ${merge(...(says ? [] : ["--no-ff"]))} ;;`,
    `unset:*|false:*) ${merge()} ;;`,
    `merges:*) ${rebase("--rebase-merges")} ;;`,
    `*) ${rebase()} ;;`,
    `esac`,
  ].join("\n");
  return `${nothing}\n${byWord ?? bySettings}`;
}
