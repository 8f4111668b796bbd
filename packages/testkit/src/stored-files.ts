import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Absolute path and content of each file below a directory; without those that a running server removes or renames meanwhile. */
export function storedFiles(directory: string): readonly (readonly [path: string, content: Buffer])[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .flatMap((entry) => {
      const path = join(entry.parentPath, entry.name);
      try {
        return [[path, readFileSync(path)] as const];
      } catch (error) {
        if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
        throw error;
      }
    });
}

/** Paths of the files below a directory that hold one of the texts, also in the middle of binary data. */
export function filesHolding(directory: string, ...texts: readonly string[]): readonly string[] {
  return storedFiles(directory)
    .filter(([, content]) => texts.some((text) => content.includes(text)))
    .map(([path]) => path);
}
