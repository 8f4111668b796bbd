import type { AnnouncedServer } from "../server/announced-servers.ts";

/** A browser: no disk, no processes, no name. */
export const thisMachine = {
  hasDisk: false,
  host: "browser",
  home: "/home",
  platform: "web",
  description: "browser",
  userName: () => "",
};

/** None: a browser sees no files of a user. */
export async function serversHere(): Promise<readonly AnnouncedServer[]> {
  return [];
}
