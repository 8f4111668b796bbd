import { homedir, hostname, userInfo } from "node:os";
import { type AnnouncedServer, announcedServers } from "./announced-servers.ts";
import { stateDirectory } from "./state-directory.ts";

/** The machine this window's extensions run on. */
export const thisMachine = {
  /** False in a browser: nothing can be started, and no files of a user are here. */
  hasDisk: true,
  host: hostname(),
  /** Absolute, with slashes. */
  home: homedir().replaceAll("\\", "/"),
  /** Platform name as in Node. */
  platform: process.platform as string,
  /** For reports of problems. */
  description: `${process.platform} ${process.arch}`,
  userName: () => userInfo().username,
  /** What else may be why a server gave no answer: a sentence with a blank before it, or empty. */
  whyUnanswered: "",
};

/** Servers of this user that run on this machine. */
export async function serversHere(onBad: (file: string, reason: string) => void): Promise<readonly AnnouncedServer[]> {
  const directory = stateDirectory({ environment: process.env, platform: process.platform, home: homedir() });
  return directory === undefined ? [] : announcedServers(directory, onBad);
}
