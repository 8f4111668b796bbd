import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { FileBase } from "@gennai/governance/effect";
import { KnownFiles } from "../../session/state/known-files.ts";
import { maxFileBytes } from "../../tools/text-limits.ts";

/** A session that has just read every file: for decisions that ignore freshness. */
export class ReadAlready extends KnownFiles {
  readonly #root: string;

  constructor(root: string) {
    super();
    this.#root = root;
  }

  override base(path: string): FileBase | undefined {
    try {
      const file = join(this.#root, path);
      const stat = statSync(file);
      if (!stat.isFile() || stat.size > maxFileBytes) return undefined;
      return { source: "disk", sha256: createHash("sha256").update(readFileSync(file)).digest("hex") };
    } catch {
      return undefined;
    }
  }
}
