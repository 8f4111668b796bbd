import { delimiter } from "node:path";
import { settingsEnvironment } from "../../git/run/git-settings.ts";
import { directoriesOutside } from "../../sandbox/host/search-path.ts";
import type { StagedCommand } from "../../stage/staged-command.ts";

/**
 * A command with network access that an earlier answer may have allowed: the program of that name is what runs. No program of
 * the workspace can replace it, and none that the workspace's settings name is started.
 *
 * @param staged real paths of the directories that commands can write to
 */
export function withWayOut(command: StagedCommand, staged: readonly string[]): StagedCommand {
  const PATH = directoriesOutside(command.environment["PATH"], staged).join(delimiter);
  return { ...command, environment: { ...command.environment, ...nothingNamed, PATH } };
}

/** They outrank every file of settings. */
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
  // Among several settings of it, git takes the first.
  GIT_PROXY_COMMAND: "",
  // Neither `ext`, nor the program of a remote's `vcs`.
  GIT_ALLOW_PROTOCOL: "file:git:http:https:ssh",
  GIT_TERMINAL_PROMPT: "0",
  npm_config_git: "git",
  // For the npm that npm starts for a dependency out of git. An empty one would not count.
  npm_config_node_options: "--no-deprecation",
};
