import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { inRepository } from "./repository.mjs";

/** ripgrep is found as a package, from where a bundle lies. @param {string} directory of the bundle, absolute */
export function linkRipgrep(directory) {
  const link = join(directory, "node_modules", "@vscode", "ripgrep");
  rmSync(link, { force: true });
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(relative(dirname(link), inRepository("packages/machine/node_modules/@vscode/ripgrep")), link, "junction");
}
