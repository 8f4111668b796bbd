import { existsSync } from "node:fs";
import { delimiter, dirname } from "node:path";
import { nodeProgramHere, runsGennai, tooOldMessage } from "../../release/artefacts/node-package.mjs";
import { inRepository } from "./repository.mjs";

/**
 * The Node that runs the project: the one that came with the dependencies, else the running one if it is new enough.
 * @returns {string} absolute path
 */
export function packagedNode() {
  const program = nodeProgramHere();
  const packaged = program && inRepository("node_modules", program);
  if (packaged !== undefined && existsSync(packaged)) return packaged;
  if (runsGennai()) return process.execPath;
  throw new Error(tooOldMessage());
}

/** The environment in which the project's tools run: their programs and the right Node come first. */
export function toolEnvironment() {
  const path = [inRepository("node_modules", ".bin"), dirname(packagedNode()), process.env.PATH];
  return { ...process.env, PATH: path.join(delimiter) };
}
