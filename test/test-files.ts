import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The test files in `folders`, all as paths from `root`, by how they may run. Those in `together` may run one after another in one
 * process, where what they import is loaded once. One that replaces a module (`vi.mock`) is in `alone`: the files that run after it
 * in the same process would get modules that hold its replacement.
 */
export function testFilesOf(
  root: string,
  folders: readonly string[],
): { readonly together: string[]; readonly alone: string[] } {
  const files = folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)),
    )
    .filter((file) => file.endsWith(".test.ts"));
  const replacesModules = (file: string) => readFileSync(join(root, file), "utf8").includes("vi.mock(");
  return {
    together: files.filter((file) => !replacesModules(file)),
    alone: files.filter(replacesModules),
  };
}
