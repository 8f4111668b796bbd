import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProcess } from "./start-process.ts";

/** A pipe for the output of a program, which can open it again as `/dev/stdout`; a socket, as Node makes, it cannot. */
export interface OutputPipe {
  readonly output: Socket;
  /** Descriptor of the end that is written to. */
  readonly end: number;
}

/** Only a program can make pipes, so it makes some ahead. */
const ahead = 8;
const made: { readonly read: number; readonly end: number }[] = [];
let making: Promise<boolean> | undefined;

/** Undefined where there are no such pipes: outside Linux, sockets can be opened. The caller closes `end`. */
export async function outputPipe(): Promise<OutputPipe | undefined> {
  if (process.platform !== "linux") return undefined;
  // Others that wait may take all of them.
  while (made.length === 0) {
    making ??= makeSome().finally(() => {
      making = undefined;
    });
    if (!(await making)) return undefined;
  }
  const pipe = made.pop();
  return pipe && { output: new Socket({ fd: pipe.read, readable: true, writable: false }), end: pipe.end };
}

/** False if no program makes pipes. */
async function makeSome(): Promise<boolean> {
  const directory = mkdtempSync(join(tmpdir(), "gennai-pipes-"));
  try {
    const names = Array.from({ length: ahead }, (_, index) => join(directory, String(index)));
    const program = startProcess("mkfifo", ["-m", "600", ...names], { stdio: "ignore" });
    const ended = Promise.withResolvers<boolean>();
    program.once("error", () => ended.resolve(false));
    program.once("exit", (exitCode) => ended.resolve(exitCode === 0));
    if (!(await ended.promise)) return false;
    for (const name of names) {
      const read = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK);
      try {
        made.push({ read, end: openSync(name, "w") });
      } catch (error) {
        closeSync(read);
        throw error;
      }
    }
    return true;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
