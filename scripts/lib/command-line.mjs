import { parseArgs } from "node:util";

/**
 * The options and words of the command line. `--help` prints the usage and ends the process with 0; a command line that cannot be
 * read ends it with 2.
 * @template {import("node:util").ParseArgsConfig} const T
 * @param {string} usage ends with a line break
 * @param {T} config as for `parseArgs`, without `help`
 * @returns {ReturnType<typeof parseArgs<T>>}
 */
export function readCommandLine(usage, config) {
  helpIfAsked(usage, config.args ?? process.argv.slice(2));
  try {
    return parseArgs(config);
  } catch (error) {
    return usageError(error instanceof Error ? error.message : String(error), usage);
  }
}

/** Prints the usage and ends the process with 0 when `--help` or `-h` is among the words. @param {string} usage @param {readonly string[]} words */
export function helpIfAsked(usage, words = process.argv.slice(2)) {
  const end = words.indexOf("--");
  const own = end < 0 ? words : words.slice(0, end);
  if (!own.includes("--help") && !own.includes("-h")) return;
  process.stdout.write(usage);
  process.exit(0);
}

/**
 * Ends the process with 2, and says why.
 * @param {string} message @param {string} usage
 * @returns {never}
 */
export function usageError(message, usage) {
  process.stderr.write(`error: ${message}\n\n${usage}`);
  process.exit(2);
}
