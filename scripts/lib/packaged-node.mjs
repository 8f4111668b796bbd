import { existsSync } from "node:fs";
import { delimiter, dirname } from "node:path";
import { inRepository } from "./repository.mjs";

const LEAST = { major: 22, minor: 13 };

/**
 * The Node that runs the project: the one that came with the dependencies, else the running one if it is new enough.
 * @returns {string} absolute path
 */
export function packagedNode() {
  const packaged = inRepository("node_modules", `node-${process.platform}-${process.arch}`, "bin", "node");
  if (existsSync(packaged)) return packaged;
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > LEAST.major || (major === LEAST.major && minor >= LEAST.minor)) return process.execPath;
  throw new Error(
    `Gennai needs Node ${LEAST.major}.${LEAST.minor} or newer on ${process.platform}-${process.arch}, and this is ${process.versions.node}.\n` +
      "Install Node 24 (https://nodejs.org) and run the same command again.",
  );
}

/** The environment in which the project's tools run: their programs and the right Node come first. */
export function toolEnvironment() {
  const path = [inRepository("node_modules", ".bin"), dirname(packagedNode()), process.env.PATH];
  return { ...process.env, PATH: path.join(delimiter) };
}
