import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

interface Machine {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
}

/**
 * Where servers of this user announce themselves, chosen as the server does: `GENNAI_STATE_DIR`, else the platform's directory
 * for state. undefined if `GENNAI_STATE_DIR` is not an absolute path: then no server starts, either.
 */
export function stateDirectory(
  { environment, platform, home }: Machine = { environment: process.env, platform: process.platform, home: homedir() },
): string | undefined {
  const own = environment["GENNAI_STATE_DIR"];
  if (own !== undefined && own !== "") return isAbsolute(own) ? own : undefined;
  switch (platform) {
    case "darwin":
      return join(home, "Library", "Application Support", "gennai");
    case "win32":
      return join(environment["LOCALAPPDATA"] || join(home, "AppData", "Local"), "gennai");
    default: {
      const state = environment["XDG_STATE_HOME"];
      return join(state !== undefined && isAbsolute(state) ? state : join(home, ".local", "state"), "gennai");
    }
  }
}
