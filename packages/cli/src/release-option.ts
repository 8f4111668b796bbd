import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ServerOptions } from "@gennai/server/serve";

/** Where the program's own files lie; nothing where it runs from source. */
export function releaseOption(): Pick<ServerOptions, "releaseDirectory"> {
  const here = import.meta.dirname;
  return existsSync(join(here, "page")) ? { releaseDirectory: here } : {};
}
