import type { AnnouncedServer } from "../server/find-server.ts";

const { origin } = globalThis.location ?? { origin: "this window's origin" };

/** A browser: no disk, no processes, no name. */
export const thisMachine = {
  hasDisk: false,
  host: "browser",
  home: "/home",
  platform: "web",
  description: "browser",
  userName: () => "",
  // If a server does not allow this window's origin, the browser hides its answer, and only says that there was none.
  whyUnanswered: ` If it runs, it may not allow pages of ${origin}; the person who runs it can allow them.`,
};

/** Always empty: a browser does not see the user's files. */
export async function serversHere(): Promise<readonly AnnouncedServer[]> {
  return [];
}
