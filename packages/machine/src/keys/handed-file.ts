import { lstatSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { noKey } from "./login/no-key.ts";

/**
 * The only file of a directory, as a path for this process. A link there could lead to any file of the user's. Throws `ToolFailure`.
 *
 * @param temporary what was the `/tmp` of the run that left it; nothing writes there any more
 * @param from the directory, as the run saw it
 */
export function handedFile(temporary: string, from: string): string {
  const directory = join(temporary, relative("/tmp", from));
  const [name, ...others] = lstatSync(directory, { throwIfNoEntry: false })?.isDirectory()
    ? readdirSync(directory)
    : [];
  const file = join(directory, name ?? "");
  if (name !== undefined && others.length === 0 && lstatSync(file).isFile()) return file;
  throw noKey("Packing did not leave exactly one file, so nothing was sent.");
}
