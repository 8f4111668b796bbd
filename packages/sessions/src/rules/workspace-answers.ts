import { join } from "node:path";
import { prepareStateDirectory } from "@gennai/machine/config/state-directory";
import { ensurePrivateDirectory, readPrivateFile } from "@gennai/machine/private-file";
import { replaceFile } from "@gennai/machine/replace-file";
import { hasCode } from "@gennai/machine/system-error";
import { acquireFileLock } from "@gennai/store/database/file-lock";
import * as z from "zod";

/**
 * Yes answers that apply to all sessions of one workspace, in a file of the state directory: private, and out of reach of any
 * agent. Several servers may share it; it is read again each time, so that a revocation applies at once.
 */
export class WorkspaceAnswers<Entry> {
  readonly #stateDir: string;
  readonly #workspaceRoot: string;
  readonly #name: string;
  readonly #schema: z.ZodType<Record<string, readonly Entry[]>>;

  /** @param options.name of the file, without its extension */
  constructor(
    stateDir: string,
    workspaceRoot: string,
    { name, entry }: { readonly name: string; readonly entry: z.ZodType<Entry> },
  ) {
    this.#stateDir = stateDir;
    this.#workspaceRoot = workspaceRoot;
    this.#name = name;
    this.#schema = z.record(z.string(), z.array(entry));
  }

  async list(): Promise<readonly Entry[]> {
    return (await this.#readAll(this.#stateDir)).get(this.#workspaceRoot) ?? [];
  }

  /** Revokes all, or those that are meant; resolves with them. */
  async revoke(isMeant: (one: Entry) => boolean = () => true): Promise<readonly Entry[]> {
    let revoked: readonly Entry[] = [];
    await this.change((known) => {
      revoked = known.filter(isMeant);
      return known.filter((one) => !isMeant(one));
    });
    return revoked;
  }

  /** Replaces the answers in force with what `change` returns. */
  protected async change(change: (known: readonly Entry[]) => readonly Entry[]): Promise<void> {
    const directory = await prepareStateDirectory(this.#stateDir);
    await ensurePrivateDirectory(directory);
    using _lock = await acquireFileLock(join(directory, `${this.#name}.lock`), { timeout: 5_000 });
    const all = new Map(await this.#readAll(directory));
    const changed = change(all.get(this.#workspaceRoot) ?? []);
    if (changed.length === 0) all.delete(this.#workspaceRoot);
    else all.set(this.#workspaceRoot, changed);
    await replaceFile(this.#fileIn(directory), `${JSON.stringify(Object.fromEntries(all), undefined, 2)}\n`);
  }

  /** If the file is missing or damaged, nothing is accepted. */
  async #readAll(stateDir: string): Promise<ReadonlyMap<string, readonly Entry[]>> {
    try {
      const written: unknown = JSON.parse(await readPrivateFile(this.#fileIn(stateDir)));
      return new Map(Object.entries(this.#schema.parse(written)));
    } catch (error) {
      if (hasCode(error, "ENOENT") || error instanceof SyntaxError || error instanceof z.ZodError) return new Map();
      throw error;
    }
  }

  #fileIn(stateDir: string): string {
    return join(stateDir, `${this.#name}.json`);
  }
}
