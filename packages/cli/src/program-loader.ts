// The built command line's first module: main.mjs. It runs the bundle beside it with code that V8 compiled in an earlier run.
//
// Node's own compile cache stores what is compiled when a module is loaded. This one stores it when the command has done its
// work, with every function that it called: compiling those took half of a start.
import type { Script } from "node:vm";

/** File names of the bundles, with digests of their content; set by the build. */
declare const PROGRAM_FILE: string;
declare const REST_FILE: string;

// Nothing is imported: importing a module of Node costs a table of its exports.
const { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } =
  process.getBuiltinModule("node:fs");
const { join } = process.getBuiltinModule("node:path");
const { Script: CompiledScript, constants } = process.getBuiltinModule("node:vm");

type Modules = Readonly<Record<string, () => unknown>>;
type Bundle = (
  exports: { modules?: Modules },
  require: (id: string) => unknown,
  here: readonly [filename: string, dirname: string],
) => void;

/** A server runs long: after this time it has answered its first requests. Milliseconds. */
const settledMs = 10_000;
/** Milliseconds after which the program is loaded, and its young generation is large enough for edits of large files. */
const loadedMs = 150;
const dayMs = 24 * 60 * 60 * 1000;
const digestBytes = 32;

const { setFlagsFromString } = process.getBuiltinModule("node:v8");

const directory = import.meta.dirname;
const kept = keptUnder(process.argv[2], process.argv[3]);
const scripts: { readonly script: Script; readonly file: string }[] = [];
let program: Modules = {};
let rest: Modules | undefined;
let isSmall = false;

process.once("exit", (code) => {
  // A command that failed, or was called wrongly, has done little of its work, and compiled little.
  if (code !== 1 && code !== 2) keepCompiled();
});
setTimeout(keepCompiled, settledMs).unref();
if (!(await isRelayed())) {
  program = run(PROGRAM_FILE);
  if (mayServe()) setTimeout(keepHeapSmall, loadedMs).unref();
}

/** A small module handles the hook of a guarded agent, which waits for it; if that fails, the program does. */
async function isRelayed(): Promise<boolean> {
  const [, , command, subcommand, agent, ...more] = process.argv;
  if (command !== "guard" || subcommand !== "hook" || agent === undefined || more.length > 0) return false;
  const { relayGuardCall } = await import("./guard-relay.ts");
  return relayGuardCall(agent);
}

/** Commands about a ledger alone read it as fast as they can; any other command may start a server. */
function mayServe(): boolean {
  return process.argv[2] !== "ledger";
}

/**
 * Limits the growth of V8's heap. Its maximum size cannot be set after the start, but V8 reads the growth factors each time:
 *
 * - The young generation, which V8 keeps three times, stays as large as after loading: with 50 sessions this saves a third of the
 * memory, for 3 to 7 % more processor time.
 * - The old generation grows by half before the next collection, where V8 allows four times: with 50 sessions 245 MiB instead of
 * 300 to 325, for another 5 to 8 %. With one session neither is measurable.
 */
function keepHeapSmall(): void {
  isSmall = true;
  setGrowth(1, 50);
}

/** V8's default values. */
function setUsualGrowth(): void {
  setGrowth(2, 0);
}

function setGrowth(youngFactor: number, oldPercent: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${youngFactor}`);
  setFlagsFromString(`--heap-growing-percent=${oldPercent}`);
}

/** V8 accepts compiled code only under the flags under which it was made: those at the start. */
function underFirstFlags<Result>(work: () => Result): Result {
  if (!isSmall) return work();
  setUsualGrowth();
  try {
    return work();
  } finally {
    keepHeapSmall();
  }
}

/** Runs a bundle. @returns its modules that the other bundle may ask for */
function run(file: string): Modules {
  const path = join(directory, file);
  // The build writes nothing but ASCII.
  const source = readFileSync(path, "latin1");
  const cachedData = compiledBefore(file);
  const options = { filename: path, importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER };
  const script = underFirstFlags(
    () => new CompiledScript(source, cachedData === undefined ? options : { ...options, cachedData }),
  );
  if (script.cachedDataRejected !== false) scripts.push({ script, file });
  const exports: { modules?: Modules } = {};
  const start: unknown = script.runInThisContext();
  if (typeof start !== "function") throw new TypeError(`${path} is not a bundle.`);
  const given: Parameters<Bundle> = [exports, requireModule, [path, directory]];
  Reflect.apply(start, undefined, given);
  return exports.modules ?? {};
}

/** Modules that the bundles ask for: of Node, or of the other bundle, which is read only then. */
function requireModule(id: string): unknown {
  const builtin: unknown = process.getBuiltinModule(id);
  if (builtin !== undefined) return builtin;
  const found = program[id] ?? (rest ??= run(REST_FILE))[id];
  if (found === undefined) throw new Error(`The build lacks ${id}.`);
  return found();
}

/** Each command calls other functions, so each has a file of its own. undefined: nothing is kept. */
function keptUnder(command = "serve", subcommand = ""): string | undefined {
  const name = command === "guard" ? `${command}-${subcommand}` : command.startsWith("-") ? "serve" : command;
  const isAsked = process.argv.some((arg) => /^(?:-h|--help|-V|--version)$/.test(arg));
  return isAsked || !/^[a-z][a-z-]{0,30}$/.test(name) ? undefined : `${name}-${process.versions.v8}-${process.arch}`;
}

/** Where it is kept: beside the program or, if an administrator installed that, with the user's other caches. */
function* places(): Generator<string> {
  const { NODE_COMPILE_CACHE: chosen, XDG_CACHE_HOME: caches = "" } = process.env;
  if (chosen !== undefined && chosen !== "") {
    yield chosen;
    return;
  }
  yield join(directory, ".compile-cache");
  const { isAbsolute } = process.getBuiltinModule("node:path");
  const { homedir } = process.getBuiltinModule("node:os");
  yield join(isAbsolute(caches) ? caches : join(homedir(), ".cache"), "gennai", "compile-cache");
}

/** V8 checks only the beginning of compiled code, and crashes on damage further in: so the file begins with a digest. */
function compiledBefore(file: string): Buffer | undefined {
  if (kept === undefined) return undefined;
  for (const place of places()) {
    try {
      const bytes = readFileSync(join(place, `${file}.${kept}`));
      const data = bytes.subarray(digestBytes);
      return digestOf(data).equals(bytes.subarray(0, digestBytes)) ? data : undefined;
    } catch {}
  }
  return undefined;
}

function digestOf(data: Uint8Array): Buffer {
  return process.getBuiltinModule("node:crypto").hash("sha256", data, "buffer");
}

/** Keeps what was compiled meanwhile, unless an earlier run did. Without it only the next start is slower. */
function keepCompiled(): void {
  const made = scripts.splice(0);
  if (kept === undefined || made.length === 0) return;
  for (const { script, file } of made) {
    const data = underFirstFlags(() => script.createCachedData());
    for (const place of places()) {
      if (!isWritten(place, file, data)) continue;
      removeOld(place);
      break;
    }
  }
}

function isWritten(place: string, file: string, data: Buffer): boolean {
  const path = join(place, `${file}.${kept}`);
  const unfinished = `${path}.${process.pid}`;
  try {
    mkdirSync(place, { recursive: true });
    writeFileSync(unfinished, Buffer.concat([digestOf(data), data]));
    renameSync(unfinished, path);
    return true;
  } catch {
    return false;
  }
}

/** Removes compiled code of earlier builds. */
function removeOld(place: string): void {
  try {
    for (const name of readdirSync(place)) {
      if (name.startsWith(PROGRAM_FILE) || name.startsWith(REST_FILE) || !/^(?:program|rest)-/.test(name)) continue;
      const path = join(place, name);
      if (statSync(path).mtimeMs < Date.now() - dayMs) rmSync(path, { force: true });
    }
  } catch {}
}
