/** Names and values of git's settings; values are texts as git reads them. */
export type GitSettings = readonly (readonly [name: string, value: string])[];

/**
 * Settings for every git in a repository that we do not trust: it starts nothing and fetches nothing. They outrank what the
 * repository and its user say.
 */
export const fixedSettings: GitSettings = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.attributesFile", "/dev/null"],
  ["core.editor", "true"],
  ["sequence.editor", "true"],
  ["core.pager", "cat"],
  ["core.askPass", ""],
  ["core.sshCommand", "false"],
  ["core.gitProxy", "false"],
  ["core.alternateRefsCommand", "false"],
  ["credential.helper", ""],
  ["log.showSignature", "false"],
  ["commit.gpgSign", "false"],
  ["gpg.program", "false"],
  ["submodule.recurse", "false"],
  ["diff.ignoreSubmodules", "dirty"],
  // To show what changed within one, another git runs there, by the submodule's own settings.
  ["diff.submodule", "short"],
  ["status.submoduleSummary", "false"],
  // A directory that looks like a bare repository, in the middle of a working tree, is not one.
  ["safe.bareRepository", "explicit"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
];

/**
 * Settings with a free part in their name that make git start a program, as an extended regular expression over what `git
 * config` lists; and `core.worktree`, which leads it to other files.
 */
export const programSettings = [
  "^(filter\\..+\\.(clean|smudge|process|required)",
  "diff\\.(external|.+\\.(command|textconv))",
  "merge\\..+\\.driver",
  "gpg\\..+\\.(program|defaultkeycommand)",
  "credential\\..+\\.helper",
  "hook\\..+\\.(command|event)",
  "trailer\\..+\\.(cmd|command)",
  "remote\\..+\\.promisor",
  "core\\.worktree)$",
].join("|");

/** What such a setting is given instead: empty, git starts nothing, or nothing that there is. */
export function harmlessValue(name: string): string {
  return /\.(?:required|promisor)$/.test(name) ? "false" : "";
}

/**
 * The same in a shell, where a second sandbox only to list the settings would cost more: takes git's program, the expression, the
 * working tree, and git's arguments.
 */
export const guardedGit = `
git=$0 pattern=$1 tree=$2 n=$GIT_CONFIG_COUNT
shift 2
names=$("$git" config --name-only --get-regexp "$pattern") || [ $? = 1 ] || exit 128
IFS='
'
set -f
for name in $names; do
  case $name in
    core.worktree) export "GIT_WORK_TREE=$tree"; continue ;;
    *.required|*.promisor) value=false ;;
    *) value= ;;
  esac
  export "GIT_CONFIG_KEY_$n=$name" "GIT_CONFIG_VALUE_$n=$value"
  n=$((n + 1))
done
export "GIT_CONFIG_COUNT=$n"
exec "$git" "$@"
`;

/** Settings as git takes them from its environment, where a name may hold any character. */
export function settingsEnvironment(settings: GitSettings): Readonly<Record<string, string>> {
  return {
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([name, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, name],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}
