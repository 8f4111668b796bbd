import { createHash } from "node:crypto";
import {
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { hasCode } from "../../system-error.ts";
import type { ControlState } from "./control-state.ts";

/** Bytes of all copies together. */
const maxCopied = 512 * 1024 * 1024;

/** Keeps bytes by their SHA-256, in a private directory that is created when needed. */
export class KeptBytes {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  keep(sha256: string, bytes: Uint8Array): void {
    const file = join(this.#directory, sha256);
    if (existsSync(file)) return;
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    writeFileSync(`${file}.new`, bytes, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }

  /** Throws if the bytes are missing or damaged. */
  read(sha256: string): Uint8Array {
    const bytes = readFileSync(join(this.#directory, sha256));
    if (createHash("sha256").update(bytes).digest("hex") !== sha256)
      throw new Error(`What was kept of ${sha256} is damaged.`);
    return bytes;
  }

  /**
   * Copies a file that is too large to be read at each look; does nothing if there is no room.
   * @param identity identifies the file and its version; checked again after copying
   */
  keepCopy(path: string, identity: () => string | undefined): void {
    const named = identity();
    if (named === undefined) return;
    const file = join(this.#directory, copyName(named));
    if (existsSync(file) || statSync(path).size + this.#copied() > maxCopied) return;
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    try {
      copyFileSync(path, `${file}.new`, constants.COPYFILE_FICLONE);
    } catch (error) {
      // A file that may not be read cannot be obeyed either.
      if (hasCode(error, "EACCES")) return;
      throw error;
    }
    if (identity() === named) renameSync(`${file}.new`, file);
    else rmSync(`${file}.new`);
  }

  /** Removes all bytes that these states do not need. */
  keepOnly(states: Iterable<ControlState>): void {
    if (!existsSync(this.#directory)) return;
    const needed = new Set<string>();
    for (const state of states) {
      if (state.type === "file") needed.add(state.sha256);
      if (state.type === "other") needed.add(copyName(state.identity));
    }
    for (const name of readdirSync(this.#directory))
      if (!needed.has(name)) rmSync(join(this.#directory, name), { force: true });
  }

  /** Undefined if there is none. */
  readCopy(identity: string): Uint8Array | undefined {
    const file = join(this.#directory, copyName(identity));
    return existsSync(file) ? readFileSync(file) : undefined;
  }

  #copied(): number {
    if (!existsSync(this.#directory)) return 0;
    const copies = readdirSync(this.#directory).filter((name) => name.endsWith(".copy"));
    return copies.reduce((sum, name) => sum + statSync(join(this.#directory, name)).size, 0);
  }
}

function copyName(identity: string): string {
  return `${createHash("sha256").update(identity).digest("hex")}.copy`;
}
