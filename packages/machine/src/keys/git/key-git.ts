import { fixedSettings, type GitSettings, settingsEnvironment } from "../../git/run/git-settings.ts";

/** Where what is uncovered for one run lies in it. */
export const keyDirectory = "/run/gennai-key";

/**
 * Environment of a git that has a login: it starts nothing that any settings name, has only this way to reach a host, and takes
 * no directory for a repository by its look.
 */
export function keyGitEnvironment(
  scheme: "ssh" | "https" | "http",
  settings: GitSettings,
): Readonly<Record<string, string>> {
  return {
    ...settingsEnvironment([
      ...fixedSettings,
      // What runs git for itself, as gh does, asks for no text.
      ["core.editor", "false"],
      ["push.default", "simple"],
      ["push.recurseSubmodules", "no"],
      ["push.gpgSign", "false"],
      ["fetch.recurseSubmodules", "no"],
      ["protocol.allow", "never"],
      [`protocol.${scheme}.allow`, "always"],
      ...settings,
    ]),
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_NO_LAZY_FETCH: "1",
    // Outranks every setting of a protocol, also the more exact ones.
    GIT_ALLOW_PROTOCOL: scheme,
  };
}
