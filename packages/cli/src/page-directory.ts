import { existsSync } from "node:fs";
import { join } from "node:path";

/** Where the built page lies: beside the bundle, or, from source, where its own build puts it. */
export function pageDirectory(): string {
  const here = import.meta.dirname;
  const bundled = join(here, "page");
  return existsSync(bundled) ? bundled : join(here, "..", "..", "repl", "dist");
}
