import { fixedSettings, type GitSettings, settingsEnvironment } from "@gennai/git/run/git-settings";

/** Directory, within the run, of the files uncovered for it. */
export const keyDirectory = "/run/gennai-key";

/**
 * Environment of a git that has a key: it starts no program that a setting names, reaches hosts only by ssh, and does not accept a
 * directory as a repository just because it looks like one.
 */
export function keyGitEnvironment(settings: GitSettings): Readonly<Record<string, string>> {
  return {
    ...settingsEnvironment([
      ...fixedSettings,
      // Programs that run git themselves, such as gh, must not open an editor.
      ["core.editor", "false"],
      ["push.default", "simple"],
      ["push.recurseSubmodules", "no"],
      ["push.gpgSign", "false"],
      ["fetch.recurseSubmodules", "no"],
      ["protocol.allow", "never"],
      ["protocol.ssh.allow", "always"],
      ...settings,
    ]),
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_NO_LAZY_FETCH: "1",
    // Outranks all settings of protocols, even more specific ones.
    GIT_ALLOW_PROTOCOL: "ssh",
  };
}
