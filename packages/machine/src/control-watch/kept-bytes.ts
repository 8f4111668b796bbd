import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Bytes by their SHA-256, in a private directory, which is made when there are some. */
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

  /** Throws for bytes that are not there, or not whole. */
  read(sha256: string): Uint8Array {
    const bytes = readFileSync(join(this.#directory, sha256));
    if (createHash("sha256").update(bytes).digest("hex") !== sha256)
      throw new Error(`What was kept of ${sha256} is damaged.`);
    return bytes;
  }
}
