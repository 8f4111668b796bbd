// The built command line's first module: main.mjs. It runs the bundle beside it with code that V8 compiled in an earlier run.
//
// Node's own compile cache stores what is compiled when a module is loaded. This one stores it when the command has done its
// work, with every function that it called: compiling those took half of a start, and of a server's first turns.
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

interface CompiledBundle {
  readonly script: Script;
  readonly file: string;
  /** When it was loaded. */
  readonly since: NodeJS.CpuUsage;
  /** Code is kept already, of a process that had done little. */
  isKept: boolean;
}

/** After this much processor time with a bundle, most of what its command calls has probably been called. Microseconds. */
const workedUs = 2_000_000;
/** Milliseconds between two looks at that time, for what runs long. */
const lookMs = 10_000;
/** Milliseconds after which the program is loaded, and its young generation is large enough for edits of large files. */
const loadedMs = 150;
const dayMs = 24 * 60 * 60 * 1000;
const digestBytes = 32;

const { setFlagsFromString } = process.getBuiltinModule("node:v8");

const directory = import.meta.dirname;
const kept = keptUnder(process.argv[2], process.argv[3]);
/** Those whose compiled code is to be kept, or kept once more. */
let bundles: CompiledBundle[] = [];
let program: Modules = {};
let rest: Modules | undefined;
let isSmall = false;
let isForgetful = true;

process.once("exit", (code) => {
  // A command that failed, or was called wrongly, has done little of its work, and compiled little.
  if (code !== 1 && code !== 2) keepCompiled();
});
setInterval(keepCompiled, lookMs).unref();
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

/**
 * Whether V8 drops the compiled code of functions that were not called for a while. It must not before that code is kept: the
 * first function of a bundle contains all others, and to compile it anew takes a third of a start.
 */
function setForgetful(isOn: boolean): void {
  isForgetful = isOn;
  setFlagsFromString(isOn ? "--flush-bytecode" : "--no-flush-bytecode");
}

/** V8 accepts compiled code only under the flags under which it was made: those at the start. */
function underFirstFlags<Result>(work: () => Result): Result {
  const flags = { isSmall, isForgetful };
  if (flags.isSmall) setUsualGrowth();
  if (!flags.isForgetful) setForgetful(true);
  try {
    return work();
  } finally {
    if (flags.isSmall) keepHeapSmall();
    if (!flags.isForgetful) setForgetful(false);
  }
}

/** Runs a bundle. @returns its modules that the other bundle may ask for */
function run(file: string): Modules {
  const path = join(directory, file);
  // The build writes nothing but ASCII.
  const source = readFileSync(path, "latin1");
  const before = compiledBefore(file);
  const options = { filename: path, importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER };
  const script = underFirstFlags(
    () => new CompiledScript(source, before === undefined ? options : { ...options, cachedData: before.data }),
  );
  const isUsed = script.cachedDataRejected === false;
  if (before !== undefined && !isUsed) remove(before.path);
  if (kept !== undefined && !(isUsed && before?.hadWorked)) {
    bundles.push({ script, file, since: process.cpuUsage(), isKept: isUsed });
    setForgetful(false);
  }
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
function keptUnder(command = "run", subcommand = ""): string | undefined {
  const name = command === "guard" ? `${command}-${subcommand}` : command.startsWith("-") ? "run" : command;
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
function compiledBefore(
  file: string,
): { readonly path: string; readonly data: Buffer; readonly hadWorked: boolean } | undefined {
  if (kept === undefined) return undefined;
  for (const place of places()) {
    for (const hadWorked of [true, false]) {
      const path = join(place, nameOf(file, hadWorked));
      try {
        const bytes = readFileSync(path);
        const data = bytes.subarray(digestBytes);
        if (digestOf(data).equals(bytes.subarray(0, digestBytes))) return { path, data, hadWorked };
        remove(path);
      } catch {}
    }
  }
  return undefined;
}

/** What is of no use must go: else it hides what is kept next. */
function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {}
}

/** @param hadWorked whether much had been done with it when it was kept */
function nameOf(file: string, hadWorked: boolean): string {
  return `${file}.${kept}${hadWorked ? "" : ".early"}`;
}

function digestOf(data: Uint8Array): Buffer {
  return process.getBuiltinModule("node:crypto").hash("sha256", data, "buffer");
}

/**
 * Keeps what was compiled meanwhile: at first what there is, and once more, for good, when this process has done much. Without it
 * only the next start is slower, and the first turn.
 */
function keepCompiled(): void {
  if (bundles.length === 0) return;
  const unfinished: CompiledBundle[] = [];
  for (const entry of bundles) {
    const { user, system } = process.cpuUsage(entry.since);
    const hasWorked = user + system > workedUs;
    if (!hasWorked) unfinished.push(entry);
    if (entry.isKept && !hasWorked) continue;
    entry.isKept = true;
    const data = underFirstFlags(() => entry.script.createCachedData());
    for (const place of places()) {
      if (!isWritten(place, nameOf(entry.file, hasWorked), data)) continue;
      removeOld(place);
      break;
    }
  }
  bundles = unfinished;
  if (bundles.length === 0) setForgetful(true);
}

function isWritten(place: string, name: string, data: Buffer): boolean {
  const path = join(place, name);
  const unfinished = `${path}.${process.pid}`;
  try {
    mkdirSync(place, { recursive: true });
    writeFileSync(unfinished, Buffer.concat([digestOf(data), data]));
    renameSync(unfinished, path);
    return true;
  } catch {
    // A full disk leaves a part of it.
    remove(unfinished);
    return false;
  }
}

/** Removes compiled code of earlier builds, and what was kept of a process that had done little where there is more now. */
function removeOld(place: string): void {
  try {
    const names = new Set(readdirSync(place));
    for (const name of names) {
      if (name.endsWith(".early") && names.has(name.replace(/\.early$/, "")))
        rmSync(join(place, name), { force: true });
      if (name.startsWith(PROGRAM_FILE) || name.startsWith(REST_FILE) || !/^(?:program|rest)-/.test(name)) continue;
      const path = join(place, name);
      if (statSync(path).mtimeMs < Date.now() - dayMs) rmSync(path, { force: true });
    }
  } catch {}
}
