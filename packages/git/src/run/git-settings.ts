/** Names and values of git's settings; values are texts as git reads them. */
export type GitSettings = readonly (readonly [name: string, value: string])[];

/**
 * Settings for every git in an untrusted repository: it starts nothing and fetches nothing. They outrank the settings of the
 * repository and its user.
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
  // To show changes within a submodule, another git would run there, with the submodule's own settings.
  ["diff.submodule", "short"],
  ["status.submoduleSummary", "false"],
  // A directory that looks like a bare repository, in the middle of a working tree, is not one.
  ["safe.bareRepository", "explicit"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
];

/**
 * Settings with a variable part in their name that make git start a program, as an extended regular expression over the output of
 * `git config`; and `core.worktree`, which leads git to other files.
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

/** The value that replaces such a setting: empty, or a program that does not exist or does nothing. */
export function harmlessValue(name: string): string {
  return /\.(?:required|promisor)$/.test(name) ? "false" : "";
}

/**
 * The same protection as a shell script, where a second sandbox just to list the settings would cost more. Takes git's program,
 * the expression, the working tree, and git's arguments.
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

/** An environment with further settings for git, which outrank those that it already has. */
export function withSettings(
  environment: Readonly<Record<string, string>>,
  settings: GitSettings,
): Readonly<Record<string, string>> {
  const count = Number(environment["GIT_CONFIG_COUNT"] ?? 0);
  const added = settings.flatMap(([name, value], index) => [
    [`GIT_CONFIG_KEY_${count + index}`, name] as const,
    [`GIT_CONFIG_VALUE_${count + index}`, value] as const,
  ]);
  return { ...environment, ...Object.fromEntries(added), GIT_CONFIG_COUNT: String(count + settings.length) };
}

/** Settings as environment variables for git; their names may contain any character. */
export function settingsEnvironment(settings: GitSettings): Readonly<Record<string, string>> {
  return withSettings({}, settings);
}
