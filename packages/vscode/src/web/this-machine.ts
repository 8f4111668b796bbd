import type { AnnouncedServer } from "../server/announced-servers.ts";

const { origin } = globalThis.location ?? { origin: "this window's origin" };

/** A browser: no disk, no processes, no name. */
export const thisMachine = {
  hasDisk: false,
  host: "browser",
  home: "/home",
  platform: "web",
  description: "browser",
  userName: () => "",
  // A browser keeps an answer back that the server does not allow this window's origin, and says only that there was none.
  whyUnanswered: ` If it runs, it may not allow pages of ${origin}; the person who runs it can allow them.`,
};

/** None: a browser sees no files of a user. */
export async function serversHere(): Promise<readonly AnnouncedServer[]> {
  return [];
}
