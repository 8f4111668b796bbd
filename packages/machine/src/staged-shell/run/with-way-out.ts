import { delimiter } from "node:path";
import { settingsEnvironment } from "../../git/run/git-settings.ts";
import { directoriesOutside } from "../../sandbox/host/search-path.ts";
import type { StagedCommand } from "../../stage/staged-command.ts";

/**
 * A command with a way out that an answer may have opened long before: what the program's name says is what runs. Neither a
 * program of the workspace stands in its way, nor is one started that settings of the workspace name.
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
  // Not `ext`, nor what a remote's `vcs` names.
  GIT_ALLOW_PROTOCOL: "file:git:http:https:ssh",
  GIT_TERMINAL_PROMPT: "0",
  npm_config_git: "git",
  // For the npm that npm starts for a dependency out of git. An empty one would not count.
  npm_config_node_options: "--no-deprecation",
};
