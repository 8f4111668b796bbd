// `npm start -- ARGS`: gennai with these arguments; in this repository, without any, a server for the sample project. Installs and builds first when something changed. Runs on Node 20.
import { spawn } from "node:child_process";
import { ensureBuilt, program } from "./lib/build.mjs";
import { ensureInstalled } from "./lib/install.mjs";
import { packagedNode } from "./lib/packaged-node.mjs";
import { inRepository, isInRepository } from "./lib/repository.mjs";
import { exitCode } from "./lib/run.mjs";

try {
  await ensureInstalled();
  await ensureBuilt();
  startGennai();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

function startGennai() {
  // npm changes the directory; this is the one in which the user typed.
  const directory = process.env.INIT_CWD ?? process.cwd();
  const given = process.argv.slice(2);
  const args = given.length === 0 && isInRepository(directory) ? ["serve"] : given;
  const child = spawn(packagedNode(), [program, ...args], {
    stdio: "inherit",
    env: {
      // The project to copy when no workspace is named. Who calls from a directory of their own means that one.
      ...(isInRepository(directory) ? { GENNAI_SAMPLE_WORKSPACE: inRepository("examples", "sample-workspace") } : {}),
      GENNAI_INVOKED_FROM: directory,
      ...process.env,
    },
  });
  /** @type {readonly NodeJS.Signals[]} */
  const fromTerminal = ["SIGINT", "SIGHUP", "SIGQUIT"];
  for (const signal of fromTerminal) {
    // A terminal sends these to every process in front, gennai too: passing them on would make two of one Ctrl-C.
    process.on(signal, () => process.stdin.isTTY || child.kill(signal));
  }
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.once("error", (error) => {
    process.stderr.write(`Cannot start ${child.spawnfile}: ${error.message}\n`);
    process.exit(1);
  });
  child.once("exit", (code, signal) => process.exit(exitCode(code, signal)));
}
