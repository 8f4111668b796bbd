import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";

/**
 * The test files in `folders`, all as paths from `root`, by how they may run. Those in `together` may run one after another in one
 * process, where what they import is loaded once. In `alone` is what `apart` names, files and folders, and what replaces a module
 * (`vi.mock`): the files that run after it in the same process would get modules that hold its replacement. A folder that is not
 * there has none.
 */
export function testFilesOf(
  root: string,
  { folders, apart }: { readonly folders: readonly string[]; readonly apart: readonly string[] },
): { readonly together: string[]; readonly alone: string[] } {
  const files = folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)),
    )
    .filter((file) => file.endsWith(".test.ts"));
  const isAlone = (file: string) =>
    apart.some((place) => file === place || file.startsWith(`${place}${sep}`)) ||
    readFileSync(join(root, file), "utf8").includes("vi.mock(");
  return { together: files.filter((file) => !isAlone(file)), alone: files.filter(isAlone) };
}
