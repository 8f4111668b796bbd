import { homedir, hostname, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";
import { type AnnouncedServer, announcedServers } from "./announced-servers.ts";

/** The machine this window's extensions run on. */
export const thisMachine = {
  /** False in a browser: nothing can be started, and there are no files of the user. */
  hasDisk: true,
  host: hostname(),
  /** Absolute, with slashes. */
  home: homedir().replaceAll("\\", "/"),
  /** Platform name as in Node. */
  platform: process.platform as string,
  /** For problem reports. */
  description: `${process.platform} ${process.arch}`,
  userName: () => userInfo().username,
  /** Another possible reason why a server did not answer: a sentence after a space, or empty. */
  whyUnanswered: "",
};

/** Servers of this user that run on this machine. */
export async function serversHere(onBad: (file: string, reason: string) => void): Promise<readonly AnnouncedServer[]> {
  const directory = stateDirectory({ environment: process.env, platform: process.platform, home: homedir() });
  return directory === undefined ? [] : announcedServers(directory, onBad);
}

interface Machine {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
}

/**
 * Where servers of this user announce themselves, chosen as the server does: `GENNAI_STATE_DIR`, else the platform's directory
 * for state. undefined if `GENNAI_STATE_DIR` is not an absolute path: then no server starts, either.
 */
function stateDirectory({ environment, platform, home }: Machine): string | undefined {
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
