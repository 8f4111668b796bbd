import { existsSync } from "node:fs";
import { join } from "node:path";

/** Directory of the program's own files: beside the bundle. undefined if it runs from source. */
export function releaseDirectory(): string | undefined {
  const here = import.meta.dirname;
  return existsSync(join(here, "page")) ? here : undefined;
}

/** Directory of the built page: beside the bundle or, from source, where its own build writes it. */
export function pageDirectory(): string {
  const release = releaseDirectory();
  return release === undefined ? join(import.meta.dirname, "../../../../repl/dist") : join(release, "page");
}
