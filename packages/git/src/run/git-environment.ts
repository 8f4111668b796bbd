/** The user's environment without what points git at another repository, configuration or program, and without fetching. */
export function gitEnvironment(): Readonly<Record<string, string | undefined>> {
  const kept = Object.entries(process.env).filter(([name]) => !/^(?:GIT|SSH)_/.test(name));
  return {
    ...Object.fromEntries(kept),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_NO_LAZY_FETCH: "1",
    // `none` is no protocol, so that nothing is fetched, whatever a repository allows.
    GIT_ALLOW_PROTOCOL: "none",
    LC_ALL: "C",
  };
}
