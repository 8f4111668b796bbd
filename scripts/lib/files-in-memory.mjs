import { freemem, homedir, tmpdir } from "node:os";
import { isAbsolute, relative } from "node:path";
import { root } from "./repository.mjs";
import { run } from "./run.mjs";

/** Bytes of free memory, below which temporary files stay on the disk. */
const enough = 8 * 1024 ** 3;
/** With a file system in memory at $1, and the checkout where it was if it lies below it, becomes the program that follows. */
const script = `
set -e
temporary=$1 checkout=$2; shift 2
mount -t tmpfs -o mode=1777 tests "$temporary"
case $checkout in "$temporary"/*) mkdir -p "$checkout"; mount --no-canonicalize --bind . "$checkout"; cd "$checkout" ;; esac
exec "$@"`;

/**
 * What runs a command with its temporary files in memory, for itself alone: on the disks of many virtual machines a new
 * directory takes fifty times as long. Only root may do so, on Linux; for anyone else, and where memory is short, the command
 * is given back as it is.
 * @param {readonly [string, ...string[]]} command to be run in the checkout
 * @returns {Promise<readonly [string, ...string[]]>}
 */
export async function withFilesInMemory(command) {
  const temporary = tmpdir();
  if (process.platform !== "linux" || process.getuid?.() !== 0 || freemem() < enough) return command;
  if (isBelow(temporary, homedir())) return command;
  const through = (/** @type {readonly string[]} */ inner) =>
    /** @type {const} */ (["unshare", "--mount", "sh", "-c", script, "sh", temporary, root, ...inner]);
  const [program, ...args] = through(["true"]);
  const { code } = await run(program, args, { cwd: root, output: "capture" }).catch(() => ({ code: 1 }));
  return code === 0 ? through(command) : command;
}

/** @param {string} directory @param {string} path */
function isBelow(directory, path) {
  const way = relative(directory, path);
  return !way.startsWith("..") && !isAbsolute(way);
}
