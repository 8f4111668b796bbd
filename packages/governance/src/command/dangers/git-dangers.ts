import { gitGlobalOptions } from "../git-options.ts";
import type { DangerRule, Invocation } from "../invocation.ts";
import { hasOption, operandsOf, parseOptions } from "../option-spec.ts";
import type { ResolvedWord } from "../resolve-word.ts";

type Words = readonly ResolvedWord[];
type Found = ReturnType<DangerRule["find"]>;

const deny = (reason: string): Found => ({ verdict: "deny", reason, high: true });
/** Refused because work is lost by it: a person's own rule may ask instead. */
const loses = (reason: string): Found => ({ verdict: "deny", reason, high: true, askable: true });
const ask = (reason: string): Found => ({ verdict: "ask", reason, high: true });

/** Configuration keys whose value git runs, loads or follows. */
const codeKeys =
  /^(?:core\.(?:pager|editor|fsmonitor|sshcommand|hookspath|askpass|gitproxy|alternaterefscommand|attributesfile|worktree)|sequence\.editor|diff\.external|diff\..*\.(?:command|textconv)|merge\..*\.driver|filter\..*|alias\..*|pager\..*|credential\..*|credential|gpg\.program|gpg\..*\.program|difftool\..*|mergetool\..*|browser\..*|man\..*|web\.browser|interactive\.difffilter|include\.path|includeif\..*|protocol\..*|remote\..*\.(?:uploadpack|receivepack|vcs|proxy)|url\..*|uploadpack\..*|receive\..*|init\.templatedir|submodule\..*\.update|sendemail\..*|http\..*proxy|http\.proxy|ssh\..*|uploadarchive\..*|trailer\..*\.(?:command|cmd)|gc\..*command|safe\..*)$/i;

/** What a subcommand does that cannot be taken back, or that runs a program. */
const subcommands: Readonly<Record<string, (words: Words) => Found>> = {
  reset: (words) =>
    hasOption(words, "", "--hard", 3) || hasOption(words, "", "--merge", 4) || hasOption(words, "", "--keep", 3)
      ? loses("git reset would throw away work that is not committed.")
      : undefined,
  checkout: (words) => {
    if (hasOption(words, "f", "--force", 3, "bB"))
      return loses("A forced checkout throws away work that is not committed.");
    const separator = words.findIndex((word) => word.literal === "--");
    if (separator >= 0 && separator < words.length - 1)
      return loses("git checkout -- <path> throws away work that is not committed.");
    return operandsOf(words).some((word) => /^(?:\.|\.\/|:\/.*|\*)$/.test(word.literal ?? ""))
      ? loses("git checkout of whole directories throws away work that is not committed.")
      : undefined;
  },
  switch: (words) =>
    hasOption(words, "f", "--force", 4, "cC") || hasOption(words, "", "--discard-changes", 4)
      ? loses("A forced switch throws away work that is not committed.")
      : hasOption(words, "C", "--force-create", 8, "c")
        ? ask("This moves a branch that exists.")
        : undefined,
  restore: (words) => {
    const worktree = hasOption(words, "W", "--worktree", 3, "s");
    const staged = hasOption(words, "S", "--staged", 3, "s");
    return worktree || !staged ? loses("git restore throws away work that is not committed.") : undefined;
  },
  clean: (words) =>
    hasOption(words, "n", "--dry-run", 3, "e") || !hasOption(words, "f", "--force", 3, "e")
      ? undefined
      : loses("git clean deletes files that git does not know, and nothing brings them back."),
  stash: (words) =>
    /^(?:drop|clear)$/.test(operandsOf(words)[0]?.literal ?? "") ? ask("This throws stashed work away.") : undefined,
  branch: (words) => {
    const deletes = hasOption(words, "d", "--delete", 3, "u");
    if (hasOption(words, "D", "", 0, "u") || (deletes && hasOption(words, "f", "--force", 3, "u"))) {
      return ask("This deletes a branch, also when its commits are merged nowhere.");
    }
    return hasOption(words, "MCf", "--force", 3, "u") ? ask("This moves or replaces a branch that exists.") : undefined;
  },
  tag: (words) => (hasOption(words, "df", "--delete", 3, "mFu") ? ask("This deletes or moves a tag.") : undefined),
  push: (words) => {
    if (words.some((word) => /^--(?:receive-pack|exec)/.test(word.literal ?? "")))
      return deny("This names a program to run for the push.");
    if (words.some((word) => /^--force-(?:with-lease|if-includes)/.test(word.literal ?? ""))) {
      return ask("This rewrites a branch on the remote.");
    }
    if (hasOption(words, "f", "--force", 3, "o"))
      return loses("A forced push rewrites history on the remote. Use --force-with-lease.");
    if (
      hasOption(words, "d", "--delete", 4, "o") ||
      hasOption(words, "", "--mirror", 3) ||
      hasOption(words, "", "--prune", 4)
    ) {
      return loses("This deletes branches on the remote.");
    }
    const refs = operandsOf(words).slice(1);
    if (refs.some((word) => word.literal?.startsWith("+"))) return loses("A + before a refspec forces the push.");
    if (refs.some((word) => /^:[^/]/.test(word.literal ?? "")))
      return loses("An empty source deletes the branch on the remote.");
    return ask("This publishes commits.");
  },
  rebase: (words) =>
    hasOption(words, "x", "--exec", 4)
      ? deny("git rebase --exec runs a command for every commit.")
      : ask("This rewrites history."),
  bisect: (words) =>
    words[0]?.literal === "run" ? deny("git bisect run runs a command. Run that command by itself.") : undefined,
  "update-ref": () => deny("This moves or deletes a reference below git's own checks."),
  "symbolic-ref": (words) =>
    hasOption(words, "d", "--delete", 4) || operandsOf(words).length > 1
      ? deny("This moves HEAD or another reference.")
      : undefined,
  "read-tree": () => deny("This replaces the index or the work tree below git's own checks."),
  "checkout-index": (words) =>
    hasOption(words, "f", "--force", 3) ? loses("This overwrites work that is not committed.") : undefined,
  "filter-branch": () => deny("This rewrites the whole history."),
  "filter-repo": () => deny("This rewrites the whole history."),
  replace: () => ask("This replaces objects of the history."),
  reflog: (words) =>
    /^(?:expire|delete)$/.test(words[0]?.literal ?? "")
      ? deny("This throws away what could bring lost commits back.")
      : undefined,
  gc: (words) =>
    hasOption(words, "", "--prune", 4) ? deny("This throws away what could bring lost commits back.") : undefined,
  prune: () => deny("This throws away what could bring lost commits back."),
  worktree: (words) =>
    words[0]?.literal === "remove" && hasOption(words, "f", "--force", 3)
      ? loses("This deletes a work tree with its changes.")
      : undefined,
  submodule: (words) =>
    words[0]?.literal === "foreach" || hasOption(words, "f", "--force", 3)
      ? deny("This runs a command, or throws work away, in every submodule.")
      : undefined,
  commit: (words) => (hasOption(words, "", "--amend", 4) ? ask("This rewrites the last commit.") : undefined),
  config: (words) => {
    const [key, value] = operandsOf(words).filter((word) => !/^(?:get|set|unset)$/.test(word.literal ?? ""));
    const reads = words.some((word) => /^(?:--get.*|-l|--list|get|list)$/.test(word.literal ?? ""));
    if (reads) return undefined;
    if (hasOption(words, "e", "--edit", 4)) return ask("This opens git's configuration in an editor.");
    if (key?.literal === undefined || value === undefined) return undefined;
    return codeKeys.test(key.literal)
      ? deny(`git would run or follow what ${key.literal} says.`)
      : ask("This changes git's configuration.");
  },
  apply: (words) =>
    hasOption(words, "", "--unsafe-paths", 4) ? deny("This lets a patch write outside the workspace.") : undefined,
  fetch: (words) => transport(words),
  pull: (words) => transport(words),
  clone: (words) => configured(words) ?? transport(words),
  archive: (words) =>
    words.some((word) => /^--exec(?:=|$)/.test(word.literal ?? word.raw))
      ? deny("This runs a command as a transport.")
      : undefined,
  "ls-remote": (words) => transport(words),
  "remote-ext": () => deny("This runs a command as a transport."),
  grep: (words) =>
    hasOption(words, "O", "--open-files-in-pager", 4)
      ? deny("This opens files in a program of the command's choice.")
      : undefined,
  "send-email": () => deny("This sends mail by a program of the command's choice."),
  difftool: (words) =>
    hasOption(words, "x", "--extcmd", 4)
      ? deny("This runs a program of the command's choice.")
      : ask("This starts another program."),
  mergetool: () => ask("This starts another program."),
  "hash-object": () => undefined,
  diff: (words) => external(words),
  log: (words) => external(words),
  show: (words) => external(words),
};

/** `git clone -c key=value` sets configuration of the new repository before anything is checked out. */
function configured(words: Words): Found {
  for (const [index, word] of words.entries()) {
    const text = word.literal ?? "";
    const setting = /^(?:-c|--config)$/.test(text)
      ? words[index + 1]?.literal
      : /^(?:-c|--config=)(.+)$/.exec(text)?.[1];
    if (setting !== undefined && codeKeys.test(setting.split("=", 1)[0] ?? ""))
      return deny(`git would run or follow what ${setting} says.`);
  }
  return undefined;
}

function external(words: Words): Found {
  return hasOption(words, "", "--ext-diff", 6) ? deny("This runs an external diff program.") : undefined;
}

function transport(words: Words): Found {
  if (words.some((word) => /^ext::|^fd::|^-?-?upload-pack/.test((word.literal ?? word.raw).replace(/^--?(?=u)/, "")))) {
    return deny("This runs a command as a transport.");
  }
  if (words.some((word) => /^(?:--upload-pack|-u)(?:=|$)/.test(word.literal ?? "") && word.literal !== "-u"))
    return deny("This runs a command as a transport.");
  return hasOption(words, "", "--template", 5) ? ask("This copies hooks into the new repository.") : undefined;
}

export const gitDangers: readonly DangerRule[] = [
  {
    rule: "floor/git-config-code",
    programs: ["git"],
    find(invocation) {
      const { values } = gitParts(invocation);
      for (const { option, word } of values) {
        if (option === "--config-env") return deny("This takes git's configuration from the environment.");
        if (option === "--exec-path") return deny("This takes git's own programs from elsewhere.");
        if (option !== "-c") continue;
        const [key = ""] = (word.literal ?? "").split("=", 1);
        const value = word.literal?.slice(key.length + 1);
        if (/pager$/i.test(key) && (value === "cat" || value === "")) continue;
        if (word.literal === undefined || codeKeys.test(key))
          return deny(`git would run or follow what ${key || word.raw} says.`);
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
      return Object.hasOwn(subcommands, subcommand) ? subcommands[subcommand]?.(words) : undefined;
    },
  },
];

/** Global options, the subcommand and its words. The subcommand is empty when there is none, or when it is not literal. */
export function gitParts(invocation: Pick<Invocation, "words">): {
  readonly values: ReturnType<typeof parseOptions>["values"];
  readonly flags: ReadonlySet<string>;
  readonly unknown: string | undefined;
  readonly subcommand: string;
  readonly words: Words;
} {
  const parsed = parseOptions(invocation.words, gitGlobalOptions, { stopAtOperand: true });
  const [first, ...rest] = parsed.operands;
  return {
    values: parsed.values,
    flags: parsed.flags,
    unknown: parsed.unknown,
    subcommand: first?.literal ?? "",
    words: rest,
  };
}
