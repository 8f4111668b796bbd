import { existsSync } from "node:fs";
import { join } from "node:path";

/** Where the program's own files lie: beside the bundle. undefined where it runs from source. */
export function releaseDirectory(): string | undefined {
  const here = import.meta.dirname;
  return existsSync(join(here, "page")) ? here : undefined;
}

/** Where the built page lies: beside the bundle, or, from source, where its own build puts it. */
export function pageDirectory(): string {
  const release = releaseDirectory();
  return release === undefined ? join(import.meta.dirname, "../../../../repl/dist") : join(release, "page");
}
