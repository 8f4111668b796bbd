import { searchPath } from "@gennai/egress/keys/login/user-program";
import { settingsEnvironment } from "@gennai/git/run/git-settings";
import type { StagedCommand } from "@gennai/stage/staged-command";

/**
 * Prepares a command with network access that an earlier answer may have allowed: the named program runs, no program of the
 * workspace can replace it, and no program that the workspace's settings name is started.
 *
 * @param staged real paths of the directories that commands can write to
 */
export function withWayOut(command: StagedCommand, staged: readonly string[]): StagedCommand {
  const PATH = searchPath(command.environment, staged).join(":");
  return { ...command, environment: { ...command.environment, ...nothingNamed, PATH } };
}

/** Variables that outrank every settings file. */
const nothingNamed: Readonly<Record<string, string>> = {
  ...settingsEnvironment([
    ["core.hooksPath", "/dev/null"],
    ["core.fsmonitor", "false"],
    ["core.sshCommand", "ssh"],
    ["core.askPass", ""],
    ["core.alternateRefsCommand", "true"],
    ["credential.helper", ""],
    ["submodule.recurse", "false"],
    ["fetch.recurseSubmodules", "false"],
    // A directory that looks like a bare repository, in the middle of a working tree, is not one.
    ["safe.bareRepository", "explicit"],
  ]),
  // Git uses the first of several such settings.
  GIT_PROXY_COMMAND: "",
  // Excludes `ext`, and the program that a remote's `vcs` names.
  GIT_ALLOW_PROTOCOL: "file:git:http:https:ssh",
  GIT_TERMINAL_PROMPT: "0",
  npm_config_git: "git",
  // For the npm that npm starts for a dependency from git. An empty value would be ignored.
  npm_config_node_options: "--no-deprecation",
  // If npm is Corepack's, the project would choose which npm runs.
  COREPACK_ENABLE_PROJECT_SPEC: "0",
  COREPACK_ENV_FILE: "0",
};
