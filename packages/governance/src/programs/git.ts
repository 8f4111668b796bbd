import type { OptionSpec, Program, ReadingForm } from "./program.ts";
import { hiddenProgram, search } from "./shared-rows.ts";

const row = (options: OptionSpec, rest: Omit<ReadingForm, "options" | "operands"> = {}): ReadingForm => ({
  options,
  operands: "revisions",
  ...rest,
});

const changes =
  "-p -s -z -w -b -n= -# -U= -S= -G= -L= --oneline --graph --all --decorate? --stat? --shortstat --numstat --summary --name-only --name-status --no-patch --patch " +
  "--since= --until= --after= --before= --author= --committer= --grep= --format= --pretty? --date= --reverse --follow --merges --no-merges --first-parent --max-count= --skip= " +
  "--cached --staged --no-ext-diff --no-textconv --no-renames --no-prefix --relative? --color? --no-color --word-diff? --diff-filter= --abbrev-commit --check --topo-order --date-order --exit-code --quiet";
const lists =
  "-a -r -v -l -n? --all --remotes --list --show-current --contains? --merged? --no-merged? --points-at= --format= --sort= --color? --no-color";
const tags = "-n? --contains? --merged? --no-merged? --points-at= --format= --sort= --color? --no-color";
const listing = { most: 0 } as const;

export const git: Program = {
  names: "git",
  edits: true,
  tellsVersion: true,
  logins: ["git"],
  valued: "-c -C --git-dir --work-tree",
  plain: {
    flags: /^(?:-[qvpt]|--(?:quiet|verbose|all|tags|no-tags|prune|bare|heads|refs|depth=\d+))$/,
    // `ext::` and its like name programs.
    operands: /^(?!.*::)[^\\]*$/,
  },
  dangers: [hiddenProgram(/^(?:--open-files-in-pager|--upload-pack|--receive-pack|--exec-path=)/)],
  // `git pull` changes with the tree: filters and merge drivers run.
  verbs: {
    "status diff log show rev-parse ls-files blame": { tree: "looks" },
    // These run hooks, without a question: nobody asked for changes by hooks.
    "add commit": { tree: "adds" },
    "restore reset stash cherry-pick revert am apply mv rm clean submodule read-tree checkout-index sparse-checkout bisect":
      { tree: "moves" },
    "checkout switch merge rebase worktree": { tree: "moves", refs: true },
    "branch update-ref symbolic-ref remote": { refs: true },
    push: { reaches: true, login: true, refs: true },
    pull: { reaches: true, login: true, tree: "moves", refs: true },
    clone: { reaches: true, login: true, lasting: true, tree: "moves" },
    fetch: { reaches: true, login: true, lasting: "at root", refs: true },
    "ls-remote": { reaches: true, login: true, lasting: "at root" },
  },
  // Some remotes build and run what is pushed to them.
  deploys: {
    verb: /^push$/,
    target: /^(?:heroku|dokku|piku|clever|scalingo|prod|production|live|deploy|deployment)$/i,
  },
  // In the workspace itself.
  reads: {
    status: row(
      "-s -b -z -u? --short --branch --porcelain? --long --show-stash --untracked-files? --ignored? --no-renames",
    ),
    diff: row(changes),
    log: row(changes),
    show: row(changes),
    shortlog: row("-s -n -e --summary --numbered --email --since= --until= --no-merges --all"),
    blame: row("-L= -w -e -s -l -t -f -n --date= --porcelain"),
    describe: row("--tags --all --long --always --abbrev= --match= --exact-match --first-parent"),
    "rev-parse": row(
      "--short? --abbrev-ref? --verify -q --quiet --show-toplevel --git-dir --is-inside-work-tree --show-prefix --symbolic-full-name --git-common-dir",
    ),
    "rev-list": row("-n= -# --all --count --oneline --max-count= --since= --no-merges --first-parent --left-right"),
    "merge-base": row("-a --all --is-ancestor --octopus --fork-point"),
    "ls-files": row(
      "-c -d -m -o -s -t -z --cached --deleted --modified --others --stage --exclude-standard --full-name --error-unmatch",
    ),
    "ls-tree": row("-d -r -t -l -z --name-only --full-tree --long"),
    "check-ignore": row("-v -q -n --verbose --no-index"),
    "count-objects": row("-v -H", listing),
    grep: row(`${search} -E -L -P --cached --line-number --ignore-case --name-only --count`, { pattern: true }),
    branch: row(lists, listing),
    tag: row(tags, listing),
    "tag -l": row(tags),
    "tag --list": row(tags),
    remote: row("-v --verbose", listing),
    "remote get-url": row("--all", { least: 1, most: 1 }),
    "stash list": row("-n= -# --oneline --stat", listing),
    "stash show": row("-p --stat --patch --name-only", { most: 1 }),
    reflog: row("-n= -# --oneline --date=", listing),
    "worktree list": row("-v --porcelain", listing),
    // One word is a query; other settings may contain logins.
    config: row("--get --local --global --show-origin", {
      least: 1,
      most: 1,
      form: /^(?:user|core|branch|init|pull|push)\.[\w.-]+$/,
    }),
    "name-rev": row("--tags --name-only"),
    "for-each-ref": row("--count= --sort= --format= --merged? --contains?"),
    clean: row("-n -d -x --dry-run", { needs: ["-n", "--dry-run"] }),
  },
};
