import * as z from "zod/mini";
import { errorMessage } from "./error-message.ts";

const named = z.string().check(z.minLength(1));

const recordSchema = z.object({
  /** `http://host:port`, or `https://…`. */
  url: z.url({ protocol: /^https?$/ }),
  /** The server listens here instead of on a port. */
  socketPath: z.optional(named),
  /** null: the server runs with `--no-auth`. */
  token: z.nullable(named),
  pid: z.int().check(z.positive()),
  version: z.string(),
  /** Real absolute path. */
  workspace: z.string(),
  /** It serves other workspaces of its user, too, with these options. One of 0.2 says nothing of `commands`. */
  shared: z.optional(
    z.object({ commands: z.optional(z.string()), protectedBranches: z.readonly(z.array(z.string())) }),
  ),
  /** Milliseconds since the epoch. */
  startedAt: z.number(),
});

/** What a running server tells clients of the same user, in a file in `<state directory>/servers`, 0600. */
export type DiscoveryRecord = Readonly<z.infer<typeof recordSchema>>;

/** What is in the files of the servers that announced themselves. */
export interface Announcements {
  /** Running as far as their pid tells, newest first. Before the token is sent, `proveServer` must say yes. */
  readonly servers: readonly DiscoveryRecord[];
  /** Files that were not believed, and why. */
  readonly ignored: readonly {
    readonly name: string;
    readonly reason: string;
    /** It is as it should be, but its server does not run any more. */
    readonly isGone: boolean;
  }[];
}

/** `<port>.json`, or `socket-<pid>.json`. */
export function discoveryFileName({
  url,
  socketPath,
  pid,
}: Pick<DiscoveryRecord, "url" | "socketPath" | "pid">): string {
  if (socketPath !== undefined) return `socket-${pid}.json`;
  const { port, protocol } = new URL(url);
  return `${port || (protocol === "https:" ? "443" : "80")}.json`;
}

/** Reads announcements. Never rejects for what is in the files. @param names in a directory that nobody else can change */
export async function readAnnouncements(
  names: readonly string[],
  machine: {
    /** Text of a file that nobody else can read or change; undefined when it is gone meanwhile. Rejects otherwise. */
    readonly read: (name: string) => Promise<string | undefined>;
    readonly isRunning: (pid: number) => boolean;
  },
): Promise<Announcements> {
  const servers: DiscoveryRecord[] = [];
  const ignored: Announcements["ignored"][number][] = [];
  for (const name of names) {
    if (!name.endsWith(".json")) continue;
    const ignore = (reason: string, isGone = false) => void ignored.push({ name, reason, isGone });
    try {
      const text = await machine.read(name);
      if (text === undefined) continue;
      const { data: record } = recordSchema.safeParse(JSON.parse(text));
      if (record === undefined) ignore("it is not a discovery file");
      else if (discoveryFileName(record) !== name) ignore("it names another server than its file name does");
      else if (!machine.isRunning(record.pid)) ignore("its server is no longer running", true);
      else servers.push(record);
    } catch (error) {
      if (error instanceof SyntaxError) ignore("it is not a discovery file");
      else ignore(errorMessage(error));
    }
  }
  servers.sort((left, right) => right.startedAt - left.startedAt);
  return { servers, ignored };
}
