import type { OptionSpec } from "../../programs/program.ts";

const commits =
  "-# -n= -p -u -s -z -a -b -w -c -m -t -i -E -F -P -g -R -M? -C? -B? -D -S= -G= -U= -L= -O= -X? " +
  "--oneline --graph --all --decorate? --no-decorate --stat? --shortstat --numstat --dirstat? --summary --patch --no-patch --raw --name-only --name-status " +
  "--since= --until= --after= --before= --author= --committer= --grep= --format= --pretty? --date= --reverse --follow --merges --no-merges --first-parent " +
  "--max-count= --skip= --branches? --tags? --remotes? --cached --staged --color? --no-color --word-diff? --unified= --abbrev? --abbrev-commit --no-abbrev-commit " +
  "--diff-filter= --find-renames? --find-copies? --no-renames --ignore-all-space --ignore-space-change --ignore-blank-lines --minimal --patience --histogram " +
  "--left-right --cherry-pick --cherry-mark --topo-order --date-order --author-date-order --full-history --simplify-by-decoration --source --relative? --relative-date " +
  "--merge-base --exit-code --quiet --check --no-index --no-ext-diff --no-textconv --submodule? --function-context --full-index --no-prefix --text --root --parents --children " +
  "--count --no-walk --boundary --invert-grep --all-match --regexp-ignore-case --extended-regexp --fixed-strings --show-signature --notes? --no-notes --walk-reflogs --compact-summary --pickaxe-all --pickaxe-regex";

/** Options of subcommands that may print what files hold, those with which it is certain what they print. */
export const printingOptions: ReadonlyMap<string, OptionSpec> = new Map([
  ...["diff", "log", "show", "whatchanged", "diff-index", "diff-files", "reflog"].map(
    (name) => [name, commits] as const,
  ),
  ["diff-tree", `${commits} -r --no-commit-id`],
  [
    "status",
    "-s -b -v -u? -z --short --branch --porcelain? --long --show-stash --verbose --untracked-files? --ignored? --ignore-submodules? --ahead-behind --no-ahead-behind --renames --no-renames --column? --no-column",
  ],
  [
    "grep",
    "-n -i -l -L -c -w -v -h -H -E -F -P -G -o -q -z -a -I -p -W -A= -B= -C= -m= -e=! -f=@ --and --or --not --cached --untracked --line-number --ignore-case --files-with-matches --name-only --count --word-regexp --heading --break --show-function --function-context --color? --max-depth= --all-match --column --fixed-strings --extended-regexp --perl-regexp --only-matching --full-name",
  ],
  ["stash", "-p --stat --patch --name-only --oneline --date= --format= --pretty? --graph -n= -#"],
  ["cat-file", "-t -s -e -p"],
]);

/** Options before the subcommand that do not change its output. */
export const plainGlobalOptions: OptionSpec =
  "-c= --no-pager -P --no-optional-locks --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --version";

/** All options before the subcommand, to find it. */
export const gitGlobalOptions: OptionSpec =
  "-C= -c= -p -P --paginate --no-pager --git-dir= --work-tree= --namespace= --exec-path? --bare --no-replace-objects --literal-pathspecs " +
  "--glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-optional-locks --config-env= --super-prefix= --html-path --man-path --info-path --version --help -v -h --list-cmds= --no-lazy-fetch --attr-source=";
