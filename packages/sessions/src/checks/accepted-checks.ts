import { join } from "node:path";
import { prepareStateDirectory } from "@gennai/machine/config/state-directory";
import { ensurePrivateDirectory, readPrivateFile, writePrivateFile } from "@gennai/machine/private-file";
import { hasCode } from "@gennai/machine/system-error";
import { acquireFileLock } from "@gennai/store/database/file-lock";
import * as z from "zod";

const acceptedSchema = z.object({
  command: z.string(),
  /** Where the command comes from, e.g. `package.json`. */
  source: z.string(),
  /** Of the exact action that was shown: the command and what it was known to run. */
  actionSha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** The rules whose question was answered. */
  rules: z.array(z.string()),
  callId: z.string(),
  /** ISO 8601. */
  acceptedAt: z.string(),
});
export type AcceptedCheck = Readonly<z.infer<typeof acceptedSchema>>;

/** By real path of the workspace. */
const fileSchema = z.record(z.string(), z.array(acceptedSchema));

/**
 * The checks of one workspace that a person accepted for all its sessions, in the state directory: private, and out of any
 * agent's reach. Several servers may share it; it is read anew each time, so that a revocation holds at once.
 */
export class AcceptedChecks {
  readonly #stateDir: string;
  readonly #workspaceRoot: string;

  constructor(stateDir: string, workspaceRoot: string) {
    this.#stateDir = stateDir;
    this.#workspaceRoot = workspaceRoot;
  }

  async list(): Promise<readonly AcceptedCheck[]> {
    return (await readAll(this.#stateDir)).get(this.#workspaceRoot) ?? [];
  }

  async find(actionSha256: string): Promise<AcceptedCheck | undefined> {
    return (await this.list()).find((check) => check.actionSha256 === actionSha256);
  }

  /** In place of what was accepted for the same command before. */
  async accept(check: Omit<AcceptedCheck, "acceptedAt">): Promise<void> {
    const acceptedAt = new Date().toISOString();
    await this.#change((known) => [
      ...known.filter(({ command }) => command !== check.command),
      { ...check, acceptedAt },
    ]);
  }

  /** Takes everything back; resolves with what was accepted. */
  async revoke(): Promise<readonly AcceptedCheck[]> {
    let revoked: readonly AcceptedCheck[] = [];
    await this.#change((known) => {
      revoked = known;
      return [];
    });
    return revoked;
  }

  async #change(change: (known: readonly AcceptedCheck[]) => readonly AcceptedCheck[]): Promise<void> {
    const directory = await prepareStateDirectory(this.#stateDir);
    await ensurePrivateDirectory(directory);
    using _lock = await acquireFileLock(join(directory, "accepted-checks.lock"), { timeout: 5_000 });
    const all = new Map(await readAll(directory));
    const changed = change(all.get(this.#workspaceRoot) ?? []);
    if (changed.length === 0) all.delete(this.#workspaceRoot);
    else all.set(this.#workspaceRoot, changed);
    await writePrivateFile(fileIn(directory), `${JSON.stringify(Object.fromEntries(all), undefined, 2)}\n`);
  }
}

/** Nothing is accepted when the file is missing, or is not what was written. */
async function readAll(stateDir: string): Promise<ReadonlyMap<string, readonly AcceptedCheck[]>> {
  try {
    return new Map(Object.entries(fileSchema.parse(JSON.parse(await readPrivateFile(fileIn(stateDir))))));
  } catch (error) {
    if (hasCode(error, "ENOENT") || error instanceof SyntaxError || error instanceof z.ZodError) return new Map();
    throw error;
  }
}

function fileIn(stateDir: string): string {
  return join(stateDir, "accepted-checks.json");
}
