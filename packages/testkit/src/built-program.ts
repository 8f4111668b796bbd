import { execFileSync } from "node:child_process";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/**
 * The bundle of a program of ours that is TypeScript, made from the sources as they are: it starts in a third of the time. Which
 * programs have one, `scripts/test-programs.mjs` lists.
 *
 * @param source a URL of the file
 * @returns an absolute path
 */
export function builtProgram(source: URL | string): string {
  directory ??= execFileSync(process.execPath, [join(root, "scripts", "test-programs.mjs")], {
    encoding: "utf8",
  }).trim();
  return join(directory, relative(root, fileURLToPath(source)).replace(/\.ts$/, ".mjs"));
}

let directory: string | undefined;
