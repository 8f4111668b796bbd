import type { OptionSpec } from "../option-spec.ts";

/** A git subcommand that only reads with these options. */
export interface GitReading {
  readonly options: OptionSpec;
  /** `any` revisions and paths; `none` at all; `listing`: only beside an option that makes it a listing. */
  readonly operands: "any" | "none" | "listing";
  /** The options that make it a listing. */
  readonly listing?: readonly string[];
  /** The first operand must be one of these. */
  readonly first?: readonly string[];
  /** The first operand is a pattern. */
  readonly pattern?: true;
}

const commits =
  "-# -n= -p -u -s -z -a -b -w -c -m -t -i -E -F -P -g -R -M? -C? -B? -D -S= -G= -U= -L= -O= -X? " +
  "--oneline --graph --all --decorate? --no-decorate --stat? --shortstat --numstat --dirstat? --summary --patch --no-patch --raw --name-only --name-status " +
  "--since= --until= --after= --before= --author= --committer= --grep= --format= --pretty? --date= --reverse --follow --merges --no-merges --first-parent " +
  "--max-count= --skip= --branches? --tags? --remotes? --cached --staged --color? --no-color --word-diff? --unified= --abbrev? --abbrev-commit --no-abbrev-commit " +
  "--diff-filter= --find-renames? --find-copies? --no-renames --ignore-all-space --ignore-space-change --ignore-blank-lines --minimal --patience --histogram " +
  "--left-right --cherry-pick --cherry-mark --topo-order --date-order --author-date-order --full-history --simplify-by-decoration --source --relative? --relative-date " +
  "--merge-base --exit-code --quiet --check --no-index --no-ext-diff --no-textconv --submodule? --function-context --full-index --no-prefix --text --root --parents --children " +
  "--count --no-walk --boundary --invert-grep --all-match --regexp-ignore-case --extended-regexp --fixed-strings --show-signature --notes? --no-notes --walk-reflogs --compact-summary --pickaxe-all --pickaxe-regex";

export const gitReading: ReadonlyMap<string, GitReading> = new Map(
  Object.entries({
    status: {
      options:
        "-s -b -v -u? -z --short --branch --porcelain? --long --show-stash --verbose --untracked-files? --ignored? --ignore-submodules? --ahead-behind --no-ahead-behind --renames --no-renames --column? --no-column",
      operands: "any",
    },
    diff: { options: commits, operands: "any" },
    log: { options: commits, operands: "any" },
    show: { options: commits, operands: "any" },
    whatchanged: { options: commits, operands: "any" },
    "rev-list": { options: commits, operands: "any" },
    "diff-tree": { options: `${commits} -r --no-commit-id`, operands: "any" },
    shortlog: {
      options: "-s -n -e -c -w? --summary --numbered --email --since= --until= --group= --all --no-merges",
      operands: "any",
    },
    blame: {
      options:
        "-L= -w -M? -C? -e -s -l -t -f -n -p -b -c --line-porcelain --porcelain --show-email --show-name --show-number --since= --date= --root --abbrev=",
      operands: "any",
    },
    describe: {
      options:
        "--tags --all --long --always --dirty? --abbrev= --contains --match= --exclude= --exact-match --first-parent --candidates=",
      operands: "any",
    },
    "rev-parse": {
      options:
        "--short? --abbrev-ref? --verify --quiet -q --show-toplevel --git-dir --absolute-git-dir --is-inside-work-tree --is-bare-repository --show-prefix --show-cdup --symbolic-full-name --symbolic --all --branches? --tags? --git-common-dir --show-superproject-working-tree --is-shallow-repository",
      operands: "any",
    },
    "ls-files": {
      options:
        "-c -d -m -o -i -s -u -k -t -v -z -x= --cached --deleted --modified --others --ignored --stage --unmerged --exclude-standard --exclude= --full-name --error-unmatch --eol --directory --abbrev?",
      operands: "any",
    },
    "ls-tree": {
      options: "-d -r -t -l -z --name-only --name-status --full-name --full-tree --long --abbrev? --object-only",
      operands: "any",
    },
    "cat-file": { options: "-t -s -e -p", operands: "any" },
    "merge-base": { options: "-a --all --is-ancestor --octopus --fork-point --independent", operands: "any" },
    "name-rev": { options: "--tags --name-only --refs= --all", operands: "any" },
    "for-each-ref": {
      options: "--format= --sort= --count= --points-at= --merged? --no-merged? --contains?",
      operands: "any",
    },
    "show-ref": {
      options: "--heads --tags --branches --head -d --dereference -s --hash? --verify --quiet -q --abbrev?",
      operands: "any",
    },
    "check-ignore": { options: "-v -q -n -z --verbose --quiet --non-matching --no-index --stdin", operands: "any" },
    "check-attr": { options: "-a --all --cached", operands: "any" },
    "count-objects": { options: "-v -H --verbose --human-readable", operands: "none" },
    "diff-index": { options: commits, operands: "any" },
    "diff-files": { options: commits, operands: "any" },
    grep: {
      options:
        "-n -i -l -L -c -w -v -h -H -E -F -P -G -o -q -z -a -I -p -W -A= -B= -C= -m= -e=! -f=@ --and --or --not --cached --untracked --line-number --ignore-case --files-with-matches --name-only --count --word-regexp --heading --break --show-function --function-context --color? --max-depth= --all-match --column --fixed-strings --extended-regexp --perl-regexp --only-matching --full-name",
      operands: "any",
      pattern: true,
    },
    branch: {
      options:
        "-a -r -v -vv -l -i --all --remotes --list --show-current --verbose --contains? --no-contains? --merged? --no-merged? --points-at= --sort= --format= --color? --no-color --column? --no-column --abbrev= --ignore-case",
      operands: "listing",
      listing: ["-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged"],
    },
    tag: {
      options:
        "-l -n? --list --contains? --no-contains? --merged? --no-merged? --points-at= --sort= --format= --color? --column? -i --ignore-case",
      operands: "listing",
      listing: ["-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged"],
    },
    remote: { options: "-v --verbose --all --push", operands: "any", first: ["get-url"] },
    stash: {
      options: "-p --stat --patch --name-only --oneline --date= --format= --pretty? --graph -n= -#",
      operands: "any",
      first: ["list", "show"],
    },
    reflog: { options: commits, operands: "any", first: ["show", "exists"] },
    worktree: { options: "-v --porcelain -z --verbose", operands: "any", first: ["list"] },
    config: {
      options:
        "-l --list --get= --get-all= --get-regexp= --show-origin --show-scope --local --global --system --name-only -z --null --type= --bool --int --path",
      operands: "none",
    },
    "symbolic-ref": { options: "-q --quiet --short", operands: "listing", listing: ["--short"] },
    cherry: { options: "-v --abbrev= --verbose", operands: "any" },
    "range-diff": {
      options: "--no-dual-color --left-only --right-only --creation-factor= --no-color",
      operands: "any",
    },
    version: { options: "--build-options", operands: "none" },
  } satisfies Record<string, GitReading>),
);

/** Subcommands of the table that must not stand alone, because alone they change something. */
export const gitNeedsFirst: ReadonlySet<string> = new Set(["stash"]);

/** Options before the subcommand that change nothing of what it may do. */
export const gitGlobalReading: OptionSpec =
  "-c= --no-pager -P --no-optional-locks --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --version";

/** All options before the subcommand, to find it. */
export const gitGlobalOptions: OptionSpec =
  "-C= -c= -p -P --paginate --no-pager --git-dir= --work-tree= --namespace= --exec-path? --bare --no-replace-objects --literal-pathspecs " +
  "--glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-optional-locks --config-env= --super-prefix= --html-path --man-path --info-path --version --help -v -h --list-cmds= --no-lazy-fetch --attr-source=";
