import { dirname, join } from "node:path";
import { prepareStateDirectory } from "@gennai/machine/config/state-directory";
import {
  ensurePrivateDirectory,
  findPrivateFile,
  privateFileLimit,
  UnsafeFileError,
} from "@gennai/machine/private-file";
import { replaceFile } from "@gennai/machine/replace-file";
import * as z from "zod";
import { acquireFileLock } from "./database/file-lock.ts";

/**
 * What people decided, as JSON in a file of the state directory: private, and out of reach of any agent. Several processes may share it: it
 * is read again each time, so that what is revoked is at once, and one at a time replaces it as a whole.
 */
export class PrivateJson<Value> {
  readonly #stateDir: string;
  readonly #name: string;
  readonly #schema: z.ZodType<Value>;
  readonly #nothing: Value;

  /**
   * @param name relative to the state directory, with its ending `.json`
   * @param nothing what a file says that is missing or damaged
   */
  constructor(stateDir: string, name: string, { schema, nothing }: { schema: z.ZodType<Value>; nothing: Value }) {
    this.#stateDir = stateDir;
    this.#name = name;
    this.#schema = schema;
    this.#nothing = nothing;
  }

  /** Rejects with `UnsafeFileError` for a file that others can reach. */
  read(): Promise<Value> {
    return this.#readIn(this.#stateDir);
  }

  /** Rejects as `read`, with `StoreError` `busy`, and with `UnsafeFileError` for what could not be read again. */
  async change(change: (value: Value) => Value): Promise<void> {
    const stateDir = await prepareStateDirectory(this.#stateDir);
    const file = join(stateDir, this.#name);
    await ensurePrivateDirectory(dirname(file));
    using _lock = await acquireFileLock(file.replace(/json$/, "lock"), { timeout: 10_000 });
    const text = `${JSON.stringify(change(await this.#readIn(stateDir)), undefined, 2)}\n`;
    if (Buffer.byteLength(text) > privateFileLimit) {
      throw new UnsafeFileError(`${file} would be larger than 1 MiB; revoke what is not needed any more`);
    }
    await replaceFile(file, text, { durable: true });
  }

  async #readIn(stateDir: string): Promise<Value> {
    try {
      const text = await findPrivateFile(join(stateDir, this.#name));
      return text === undefined ? this.#nothing : this.#schema.parse(JSON.parse(text));
    } catch (error) {
      if (error instanceof SyntaxError || error instanceof z.ZodError) return this.#nothing;
      throw error;
    }
  }
}
