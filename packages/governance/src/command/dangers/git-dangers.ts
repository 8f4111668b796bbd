import { gitGlobalOptions } from "../words/git-options.ts";
import type { DangerRule, FoundDanger, Invocation } from "../words/invocation.ts";
import { hasOption, operandsOf, parseOptions } from "../words/option-spec.ts";
import type { ResolvedWord } from "../words/resolve-word.ts";
import { ask, deny, held, loses } from "./danger-rows.ts";
import { changesNothing } from "./environment.ts";

type Words = readonly ResolvedWord[];

/** Configuration keys whose value git runs, loads or follows. */
const codeKeys =
  /^(?:core\.(?:pager|editor|fsmonitor|sshcommand|hookspath|askpass|gitproxy|alternaterefscommand|attributesfile|worktree)|sequence\.editor|diff\.external|diff\..*\.(?:command|textconv)|merge\..*\.driver|filter\..*|alias\..*|pager\..*|credential\..*|credential|gpg\.program|gpg\..*\.program|difftool\..*|mergetool\..*|browser\..*|man\..*|web\.browser|interactive\.difffilter|include\.path|includeif\..*|protocol\..*|remote\..*\.(?:uploadpack|receivepack|vcs|proxy)|url\..*|uploadpack\..*|receive\..*|init\.templatedir|submodule\..*\.update|sendemail\..*|http\..*proxy|http\.proxy|ssh\..*|uploadarchive\..*|trailer\..*\.(?:command|cmd)|gc\..*command|safe\..*)$/i;

const transports = "fetch pull clone ls-remote";

/** Irreversible subcommands, and those that run a program: the first matching row applies. */
const rows: readonly (readonly [subcommands: string, found: FoundDanger, fits?: (words: Words) => boolean])[] = [
  ["reset", held(loses("git reset would throw away work that is not committed.")), option("--hard --merge --keep")],
  ["checkout switch checkout-index", held(loses("By force this throws away work that is not committed.")), forced],
  ["checkout", held(loses("git checkout of files throws away work that is not committed.")), checksOutFiles],
  ["switch", ask("This moves a branch that exists."), option("-C --force-create", "c")],
  ["restore", held(loses("git restore throws away work that is not committed.")), restoresFiles],
  ["clean", held(loses("git clean deletes files that git does not know, and nothing brings them back.")), cleans],
  ["stash", ask("This throws stashed work away."), first(/^(?:drop|clear)$/)],
  [
    "branch",
    ask("This deletes, moves or replaces a branch, no matter what is on it."),
    option("-D -M -C -f --force", "u"),
  ],
  ["tag", ask("This deletes or moves a tag."), option("-d -f --delete --force", "mFu")],
  ["push", deny("This names a program to run for the push."), any(/^--(?:receive-pack|exec)/)],
  ["push", ask("This rewrites a branch on the remote."), any(/^--force-(?:with-lease|if-includes)/)],
  ["push", loses("A forced push rewrites history on the remote. Use --force-with-lease."), forced],
  ["push", loses("A + before the branch forces the push."), refspec(/^\+/)],
  ["push", loses("This deletes branches on the remote."), option("-d --delete --mirror --prune", "o")],
  ["push", loses("This push deletes the branch on the remote."), refspec(/^:[^/]/)],
  ["push", ask("This publishes commits.")],
  ["rebase", held(deny("git rebase --exec runs a command for every commit.")), option("-x --exec")],
  ["rebase", ask("This rewrites history.")],
  ["bisect", held(deny("git bisect run runs a command. Run that command by itself.")), first(/^run$/)],
  ["update-ref", held(deny("This moves or deletes a reference below git's own checks."))],
  ["symbolic-ref", held(deny("This deletes a reference.")), option("-d --delete")],
  ["symbolic-ref", held(deny("This moves HEAD or another reference.")), (words) => operandsOf(words).length > 1],
  ["read-tree", held(deny("This replaces the index or the working tree below git's own checks."))],
  ["filter-branch filter-repo", held(deny("This rewrites the whole history."))],
  ["replace", ask("This replaces objects of the history.")],
  ["reflog", held(deny("This deletes what could bring lost commits back.")), first(/^(?:expire|delete)$/)],
  ["gc", held(deny("This deletes what could bring lost commits back.")), option("--prune")],
  ["prune", held(deny("This deletes what could bring lost commits back."))],
  ["worktree", held(loses("This deletes a working tree, changed or not.")), removesTree],
  ["submodule", held(deny("This runs a command in every submodule.")), first(/^foreach$/)],
  ["submodule", held(deny("This throws work away in submodules.")), forced],
  ["commit", ask("This rewrites the last commit."), option("--amend")],
  ["config", deny("git would run or follow what this setting says."), (words) => setKey(words, codeKeys)],
  ["config", ask("This changes git's configuration."), (words) => setKey(words, /./) || hasOption(words, "-e --edit")],
  ["apply", held(deny("This lets a patch write outside the workspace.")), option("--unsafe-paths")],
  ["clone", held(deny("git would run or follow what this setting says.")), configures],
  [transports, deny("This runs a command as a transport."), any(/^ext::|^fd::|^(?:--?)?upload-pack|^-u=/)],
  ["archive", deny("This runs a command as a transport."), any(/^--exec(?:=|$)/)],
  ["remote-ext", deny("This runs a command as a transport.")],
  [transports, ask("This copies hooks into the new repository."), option("--template")],
  ["grep", held(deny("This opens files in a program that the command names.")), option("-O --open-files-in-pager")],
  ["send-email", deny("This sends mail by a program that the command names.")],
  ["difftool", held(deny("This runs a program that the command names.")), option("-x --extcmd")],
  ["difftool mergetool", ask("This starts another program.")],
  ["diff log show", held(deny("This runs an external diff program.")), option("--ext-diff")],
];

function option(options: string, valued?: string) {
  return (words: Words): boolean => hasOption(words, options, valued);
}

function any(pattern: RegExp) {
  return (words: Words): boolean => words.some(({ literal, raw }) => pattern.test(literal ?? raw));
}

function first(pattern: RegExp) {
  return (words: Words): boolean => pattern.test(operandsOf(words)[0]?.literal ?? "");
}

function refspec(pattern: RegExp) {
  return (words: Words): boolean => any(pattern)(operandsOf(words).slice(1));
}

/** `-b`, `-c`, `-e` and `-o` take a value where they are known, which may be joined to them. */
function forced(words: Words): boolean {
  return hasOption(words, "-f --force --discard-changes", "bBcCeo");
}

function removesTree(words: Words): boolean {
  return first(/^remove$/)(words) && forced(words);
}

function cleans(words: Words): boolean {
  return forced(words) && !hasOption(words, "-n --dry-run", "e");
}

function checksOutFiles(words: Words): boolean {
  const separator = words.findIndex(({ literal }) => literal === "--");
  return (
    (separator >= 0 && separator < words.length - 1) ||
    operandsOf(words).some(({ literal }) => /^(?:\.|\.\/|:\/.*|\*)$/.test(literal ?? ""))
  );
}

function restoresFiles(words: Words): boolean {
  return hasOption(words, "-W --worktree", "s") || !hasOption(words, "-S --staged", "s");
}

function setKey(words: Words, keys: RegExp): boolean {
  if (any(/^(?:--get.*|-l|--list|get|list)$/)(words)) return false;
  const [key, value] = operandsOf(words).filter(({ literal }) => !/^(?:set|unset)$/.test(literal ?? ""));
  return key?.literal !== undefined && value !== undefined && keys.test(key.literal);
}

/** `git clone -c key=value` sets configuration of the new repository before anything is checked out. */
function configures(words: Words): boolean {
  const keys = words.flatMap(({ literal = "" }) => /^(?:-c|--config=)?([^=]+)=/.exec(literal)?.[1] ?? []);
  return keys.some((key) => codeKeys.test(key));
}

export const gitDangers: readonly DangerRule[] = [
  {
    rule: "floor/git-config-code",
    programs: ["git"],
    find(invocation) {
      const { values } = gitParts(invocation);
      for (const { option, word } of values) {
        if (option === "--config-env") return held(deny("This takes git's configuration from the environment."));
        if (option === "--exec-path") return held(deny("This takes git's own programs from elsewhere."));
        if (option !== "-c") continue;
        const [key = ""] = (word.literal ?? "").split("=", 1);
        const [, value] = /=(.*)$/s.exec(word.literal ?? "") ?? [];
        if (/(?:pager|editor)$/i.test(key) && value !== undefined && changesNothing.test(value)) continue;
        if (word.literal === undefined || codeKeys.test(key))
          return held(deny(`git would run or follow what ${key || word.raw} says.`));
      }
      return undefined;
    },
  },
  {
    rule: "floor/git-loss",
    programs: ["git"],
    find(invocation) {
      const { subcommand, words } = gitParts(invocation);
      // Git shows its help for these whatever follows, and nothing else.
      if (words[0]?.literal === "--help" || (words.length === 1 && words[0]?.literal === "-h")) return undefined;
      return rows.find(([names, , fits]) => names.split(" ").includes(subcommand) && fits?.(words) !== false)?.[1];
    },
  },
];

/** Global options, the subcommand and its words. The subcommand is empty if it is missing or not literal. */
export function gitParts({ words }: Pick<Invocation, "words">) {
  const { values, operands } = parseOptions(words, gitGlobalOptions, { stopAtOperand: true });
  const [subcommand, ...rest] = operands;
  return { values, subcommand: subcommand?.literal ?? "", words: rest };
}
