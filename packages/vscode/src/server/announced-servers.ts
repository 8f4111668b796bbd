import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import { assertSafeDirectory, readPrivateFile } from "./private-file.ts";

const named = z.string().check(z.minLength(1));

const recordSchema = z.object({
  url: z.url({ protocol: /^http$/ }),
  socketPath: z.optional(named),
  token: z.nullable(named),
  pid: z.int().check(z.positive()),
  version: z.string(),
  workspace: z.string(),
  startedAt: z.number(),
});

/** A server of this user that says it runs. Its token may be sent only after `proveServer` said yes. */
export interface AnnouncedServer {
  /** `http://host:port`. */
  readonly url: string;
  /** undefined: the server asks for none. */
  readonly token: string | undefined;
  /** Real absolute path. */
  readonly workspace: string;
  readonly version: string;
}

/**
 * Servers that announced themselves in `<state directory>/servers/<port>.json` and run as far as their process id tells,
 * newest first. Never throws for what is in the files: `onIgnored` hears of those that are not believed.
 */
export async function announcedServers(
  stateDirectory: string,
  onIgnored: (file: string, reason: string) => void,
): Promise<readonly AnnouncedServer[]> {
  let directory = stateDirectory;
  let names: readonly string[];
  try {
    const root = await realpath(stateDirectory);
    await assertSafeDirectory(root);
    directory = join(root, "servers");
    await assertSafeDirectory(directory);
    names = await readdir(directory);
  } catch (error) {
    if (!isMissing(error)) onIgnored(directory, messageOf(error));
    return [];
  }
  const found: z.infer<typeof recordSchema>[] = [];
  for (const name of names.filter((name) => /^\d+\.json$/.test(name))) {
    const file = join(directory, name);
    try {
      const { data: record } = recordSchema.safeParse(JSON.parse(await readPrivateFile(file)));
      if (record === undefined) onIgnored(file, "it is no discovery file");
      else if (`${new URL(record.url).port || "80"}.json` !== name)
        onIgnored(file, "it names another port than its name does");
      else if (record.socketPath === undefined && isRunning(record.pid)) found.push(record);
    } catch (error) {
      if (!isMissing(error)) onIgnored(file, messageOf(error));
    }
  }
  return found
    .sort((left, right) => right.startedAt - left.startedAt)
    .map(({ url, token, workspace, version }) => ({ url, token: token ?? undefined, workspace, version }));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, "EPERM");
  }
}

function isMissing(error: unknown): boolean {
  return hasCode(error, "ENOENT");
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
