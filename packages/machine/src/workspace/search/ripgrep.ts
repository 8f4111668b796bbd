import { StringDecoder } from "node:string_decoder";
import { ToolFailure } from "@gennai/governance/tool-error";
import { startProcess } from "../../process/start-process.ts";
import { systemErrorCode } from "../../system-error.ts";
import { fileFailure } from "../files/file-failure.ts";
import type { HeldDirectory } from "../files/held-directory.ts";
import { temporaryPrefix } from "../files/held-file.ts";

/** Its program, after what starts it elsewhere. */
export type RipgrepCommand = readonly string[];

/**
 * Runs ripgrep in a held directory and gives each record of its output to `onRecord`, which answers whether it wants more.
 * Ripgrep is killed when it does not, on abort (rejects with the signal's reason), and never outlives the promise.
 * Throws `bad_pattern` for a pattern or glob that ripgrep refuses.
 *
 * Ripgrep opens what it finds by path and does not follow links; a directory swapped for a link at the very moment it is
 * entered is not noticed.
 *
 * @param separator what ends a record: a line end, or NUL for lists of files
 */
export async function runRipgrep(
  binary: RipgrepCommand,
  directory: HeldDirectory,
  parameters: readonly string[],
  options: {
    readonly separator: "\n" | "\0";
    readonly onRecord: (record: string) => boolean;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  options.signal.throwIfAborted();
  const child = startRipgrep(binary, [...commonParameters, ...parameters, "--", "./"], directory);
  const closed = Promise.withResolvers<number | null>();
  child.once("error", closed.reject);
  child.once("close", closed.resolve);
  const kill = (): void => void child.kill("SIGKILL");
  options.signal.addEventListener("abort", kill, { once: true });
  try {
    let enough = false;
    const records = splitRecords(options.separator, (record) => {
      if (enough || options.onRecord(record)) return;
      enough = true;
      kill();
    });
    let complaint = "";
    child.stdout.on("data", records.write);
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      if (complaint.length < maximumComplaint) complaint += text;
    });
    const status = await closed.promise;
    options.signal.throwIfAborted();
    if (!enough) records.end();
    // 2 with output or without an error message means e.g. one unreadable directory: the results are still valid.
    if (status === 2 && complaint !== "" && !records.any()) throw refused(complaint);
  } catch (error) {
    options.signal.throwIfAborted();
    const code = systemErrorCode(error);
    if (code !== "ENOENT" && code !== "EACCES") throw fileFailure(error, "run", "ripgrep");
    throw new ToolFailure("ripgrep_missing", `ripgrep cannot be run: ${binary.join(" ")}`, {
      failureClass: "tool_unavailable",
      cause: error,
    });
  } finally {
    options.signal.removeEventListener("abort", kill);
    kill();
  }
}

function startRipgrep([program = "", ...before]: RipgrepCommand, args: readonly string[], directory: HeldDirectory) {
  try {
    return startProcess(program, [...before, ...args], {
      cwd: directory.path,
      env: environment(),
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
    });
  } catch (error) {
    throw fileFailure(error, "run", "ripgrep");
  }
}

function splitRecords(separator: string, onRecord: (record: string) => void) {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let seen = false;
  const take = (text: string): void => {
    const parts = (rest + text).split(separator);
    rest = parts.pop() ?? "";
    for (const part of parts) {
      seen = true;
      onRecord(part);
    }
  };
  return {
    write: (bytes: Buffer): void => take(decoder.write(bytes)),
    end: (): void => {
      take(decoder.end());
      if (rest !== "") take(separator);
    },
    any: (): boolean => seen,
  };
}

function refused(complaint: string): ToolFailure {
  const says = complaint.slice(0, maximumComplaint).replace(/^rg: /, "").trim();
  return new ToolFailure("bad_pattern", `ripgrep refuses this search: ${says}`, {
    hint: "Patterns are Rust regular expressions: no look-around, no back-references. Escape literal brackets and braces.",
  });
}

/** Only what ripgrep needs to find the user's global git ignore file. */
function environment(): NodeJS.ProcessEnv {
  const kept = ["PATH", "HOME", "XDG_CONFIG_HOME", "USERPROFILE", "SystemRoot", "TMPDIR", "TEMP"];
  return Object.fromEntries(
    kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

const maximumComplaint = 2000;
// --iglob comes after every --glob, whatever the order: a glob of the caller cannot bring these back.
const commonParameters = [
  "--no-config",
  "--no-messages",
  "--no-follow",
  "--hidden",
  "--color=never",
  "--iglob=!.git",
  `--iglob=!${temporaryPrefix}*`,
];
