/** Whose directory it is, as Node tells it. */
export interface StateDirectoryOwner {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `process.platform` */
  readonly platform: string;
  /** Absolute. */
  readonly home: string;
}

/**
 * Where Gennai keeps sessions, blobs and keys of a user, and where servers announce themselves: `GENNAI_STATE_DIR`, else the platform's
 * place for state. undefined if `GENNAI_STATE_DIR` is not an absolute path. A relative value of an XDG variable is ignored, as its
 * specification says.
 */
export function stateDirectory({ environment, platform, home }: StateDirectoryOwner): string | undefined {
  const isWindows = platform === "win32";
  const isAbsolute = (path: string | undefined) => (isWindows ? /^(?:[a-z]:)?[\\/]/i : /^\//).test(path ?? "");
  const below = (root: string, ...names: readonly string[]) =>
    [root.replace(/(?!^)[\\/]+$/, ""), ...names].join(isWindows ? "\\" : "/");
  const { GENNAI_STATE_DIR: own = "", LOCALAPPDATA: local = "", XDG_STATE_HOME: state = "" } = environment;
  if (own !== "") return isAbsolute(own) ? own : undefined;
  if (platform === "darwin") return below(home, "Library", "Application Support", "gennai");
  if (isWindows) return below(local || below(home, "AppData", "Local"), "gennai");
  return below(isAbsolute(state) ? state : below(home, ".local", "state"), "gennai");
}
