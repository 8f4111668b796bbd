import { spawn } from "node:child_process";
import { constants } from "node:os";

/**
 * @typedef {object} Finished
 * @property {number} code exit code, 128 + n after signal n
 * @property {string} output what it wrote, empty unless `capture`
 */

/**
 * Runs a program to its end. Rejects only when it cannot be started. `signal` ends it.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ cwd: string, env?: NodeJS.ProcessEnv, output: "inherit" | "stderr" | "capture", shell?: boolean, signal?: AbortSignal }} options
 * @returns {Promise<Finished>}
 */
export function run(program, args, options) {
  return new Promise((resolve, reject) => {
    const streams = { inherit: "inherit", stderr: 2, capture: "pipe" };
    const stream = /** @type {"inherit" | 2 | "pipe"} */ (streams[options.output]);
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ["ignore", stream, stream],
      shell: options.shell ?? false,
    });
    options.signal?.addEventListener("abort", () => child.kill(), { once: true });
    let output = "";
    for (const source of [child.stdout, child.stderr]) {
      source?.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    }
    // What it left running could hold its output open for ever.
    child.once("exit", () => setTimeout(() => child.stdio.forEach((stream) => stream?.destroy()), 5_000).unref());
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code: exitCode(code, signal), output }));
  });
}

/** @param {number | null} code @param {NodeJS.Signals | null} signal */
export function exitCode(code, signal) {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}
