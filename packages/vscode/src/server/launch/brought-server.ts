import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { pause } from "@gennai/client/connection/back-off";
import { type LaunchOutcome, launchTimeoutMs, pauseBetweenLooks } from "./launch-outcome.ts";
import { findNode, serverEnvironment } from "./node-program.ts";

export interface BroughtServer {
  /** Absolute path of the extension, which contains the server. */
  readonly extension: string;
  /** Absolute path of our own directory, for the server's log and compiled code. */
  readonly storage: string;
  /** Absolute path of the editor's own files, which contain a program for searching. */
  readonly editor: string;
  /** `gennai.nodePath`; empty: Node is searched. */
  readonly nodePath: string;
  /** Real absolute paths of all folders of the window. */
  readonly folders: readonly string[];
  /** Arguments after the program. */
  readonly args: readonly string[];
}

/** True if this extension contains a server. */
export function bringsServer(extension: string): boolean {
  return existsSync(programOf(extension));
}

/**
 * Starts the server in the extension, without a terminal: it outlives this window, because others share it.
 * @param isRunning called repeatedly until it resolves with true
 */
export async function startBroughtServer(
  server: BroughtServer,
  isRunning: () => Promise<boolean>,
  options: { readonly signal: AbortSignal },
): Promise<LaunchOutcome> {
  const { extension, storage, editor, args } = server;
  const node = await nodeFor(server);
  if (node === undefined) return { type: "no-node" };
  // Windows that begin at the same time must start only one server.
  await using turn = await takeTurn(join(storage, "starting.lock"), isRunning, options);
  if (turn === undefined) return { type: "running" };
  const logFile = await newLogFile(storage);
  await using log = await open(logFile, "w", 0o600);
  const child = spawn(node, [programOf(extension), ...args], {
    // A directory that is never removed: the editor may close, and a folder may be deleted.
    cwd: homedir(),
    detached: true,
    windowsHide: true,
    stdio: ["ignore", log.fd, log.fd],
    env: {
      ...serverEnvironment(process.env),
      NODE_COMPILE_CACHE: join(storage, "compiled"),
      ...searchProgram(editor),
    },
  });
  child.unref();
  const ended = Promise.withResolvers<LaunchOutcome>();
  const over = async (exitCode: number | undefined): Promise<void> =>
    ended.resolve({ type: "ended", exitCode, wrote: (await readFile(logFile, "utf8").catch(() => "")).trim() });
  child.once("error", () => void over(undefined));
  child.once("exit", (code) => void over(code ?? undefined));
  const deadline = Date.now() + launchTimeoutMs;
  while (Date.now() < deadline) {
    const end = await Promise.race([ended.promise, pause(pauseBetweenLooks, options)]);
    if (end !== undefined) return end;
    if (await isRunning()) return { type: "running" };
  }
  // A server that cannot be found would never be used.
  child.kill();
  return { type: "silent" };
}

/** How a program of the editor starts the one in the extension; undefined: there is no Node that could run it. */
export async function broughtProgram(
  server: Pick<BroughtServer, "extension" | "nodePath" | "folders">,
): Promise<
  | { readonly command: string; readonly args: readonly string[]; readonly env: Record<string, string | null> }
  | undefined
> {
  const command = await nodeFor(server);
  if (command === undefined) return undefined;
  return { command, args: [programOf(server.extension)], env: { ELECTRON_RUN_AS_NODE: "1", NODE_OPTIONS: null } };
}

function nodeFor({ nodePath, folders }: Pick<BroughtServer, "nodePath" | "folders">): Promise<string | undefined> {
  return findNode({
    chosen: nodePath,
    host: process.execPath,
    environment: process.env,
    platform: process.platform,
    home: homedir(),
    folders,
  });
}

/** Waits for the right to start a server; undefined: another window has started one meanwhile. */
async function takeTurn(
  lockFile: string,
  isRunning: () => Promise<boolean>,
  options: { readonly signal: AbortSignal },
): Promise<AsyncDisposable | undefined> {
  await mkdir(dirname(lockFile), { recursive: true, mode: 0o700 });
  while (!(await isMade(lockFile))) {
    if (await isRunning()) return undefined;
    // An old lock file was left by a window that was killed.
    const { mtimeMs } = await stat(lockFile).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > 2 * launchTimeoutMs) await rm(lockFile, { force: true });
    await pause(pauseBetweenLooks, options);
  }
  const taken = { [Symbol.asyncDispose]: () => rm(lockFile, { force: true }) };
  if (!(await isRunning())) return taken;
  await taken[Symbol.asyncDispose]();
  return undefined;
}

/** Creates a lock file. False: it already exists. */
async function isMade(path: string): Promise<boolean> {
  try {
    await (await open(path, "wx", 0o600)).close();
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

function programOf(extension: string): string {
  return join(extension, "dist", "server", "main.mjs");
}

/** Number of log files that are kept. */
const logsKept = 5;

async function newLogFile(storage: string): Promise<string> {
  const directory = join(storage, "server-logs");
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // Their names begin with the time, so the last ones are the newest.
  const old = (await readdir(directory)).toSorted().slice(0, 1 - logsKept);
  for (const name of old) await rm(join(directory, name), { force: true });
  return join(directory, `${new Date().toISOString().replaceAll(":", "-")}.log`);
}

/** The editor's ripgrep. If it has none, the server searches one itself. */
function searchProgram(editor: string): Readonly<Record<string, string>> {
  const name = process.platform === "win32" ? "rg.exe" : "rg";
  const packages = ["node_modules", "node_modules.asar.unpacked"].map((modules) => join(editor, modules, "@vscode"));
  const here = `${process.platform}-${process.arch}`;
  const places = packages.flatMap((scope) => [
    join(scope, "ripgrep-universal", "bin", here, name),
    join(scope, "ripgrep", "bin", name),
  ]);
  const found = places.find((path) => existsSync(path));
  return found === undefined ? {} : { GENNAI_RIPGREP: found };
}
