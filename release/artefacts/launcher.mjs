#!/usr/bin/env node
// `gennai` as npm installs it. Runs on Node 20: where the Node at hand is too old, the one that came along runs the program.
import { spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { nodeProgramHere, runsGennai, tooOldMessage } from "./node-package.mjs";

const program = join(import.meta.dirname, "..", "dist");

if (runsGennai()) {
  await import(pathToFileURL(join(program, "main.mjs")).href);
} else {
  const packaged = packagedNode();
  if (packaged === undefined) {
    process.stderr.write(`${tooOldMessage()}\n`);
    process.exitCode = 1;
  } else {
    runUnder(packaged);
  }
}

/** @returns {string | undefined} absolute path */
function packagedNode() {
  const wanted = nodeProgramHere();
  if (wanted === undefined) return undefined;
  try {
    const require = createRequire(import.meta.url);
    const packaged = realpathSync(require.resolve(wanted));
    // One that is too old itself would start itself for ever.
    return packaged === realpathSync(process.execPath) ? undefined : packaged;
  } catch {
    return undefined;
  }
}

/** @param {string} node */
function runUnder(node) {
  const child = spawn(node, [import.meta.filename, ...process.argv.slice(2)], { stdio: "inherit" });
  /** @type {readonly NodeJS.Signals[]} */
  const fromTerminal = ["SIGINT", "SIGHUP", "SIGQUIT"];
  for (const signal of fromTerminal) {
    // A terminal sends these to every process in front, gennai too: passing them on would make two of one Ctrl-C.
    process.on(signal, () => process.stdin.isTTY || child.kill(signal));
  }
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.once("error", (error) => {
    process.stderr.write(`Cannot start ${node}: ${error.message}\n`);
    process.exit(1);
  });
  child.once("exit", (code, signal) => process.exit(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
}
