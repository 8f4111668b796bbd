import { homedir, hostname, userInfo } from "node:os";
import { announcedServers } from "@gennai/client/node/announced-servers";
import { stateDirectory } from "@gennai/protocol/state-directory";
import type { AnnouncedServer } from "./find-server.ts";

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
  const { env: environment, platform } = process;
  const directory = stateDirectory({ environment, platform, home: homedir() });
  if (directory === undefined) return [];
  const { servers, ignored } = await announcedServers(directory);
  for (const { file, reason, isGone } of ignored) if (!isGone) onBad(file, reason);
  return servers.flatMap(({ url, socketPath, token, workspace, version, shared }) => {
    // Windows speak to ports of this machine alone.
    if (socketPath !== undefined) return [];
    if (url.startsWith("http:")) return [{ url, token: token ?? undefined, workspace, version, shared }];
    onBad(url, "its address does not begin with http://");
    return [];
  });
}
