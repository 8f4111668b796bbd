import { type Dirent, existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { systemErrorCode } from "../system-error.ts";
import { realPath, type Way } from "./way-to.ts";

/** Where the programs of a search path are. */
export interface Surroundings {
  wayTo(path: string): Way | undefined;
  /** Whether a real path is shown anyway. */
  isShown(path: string): boolean;
  /** Whether the directory at a real path may be shown whole. */
  isNarrow(path: string): boolean;
  /** Real paths of the tools' directories of which the needed parts are known. */
  readonly toolHomes: readonly string[];
}

/** What a prefix that nobody knows has beside its programs. Other files there may be anything. */
const prefixParts = "lib lib64 libexec share pyvenv.cfg".split(" ");

const manifests = "package.json pyvenv.cfg Cargo.toml".split(" ");

/**
 * Paths of what the programs in a directory need: it, what its prefix has beside it, and the packages that its links lead to. They
 * need not exist.
 */
export function programFiles(directory: string, surroundings: Surroundings): readonly string[] {
  const real = realPath(directory);
  if (real === undefined) return [];
  const links = entriesOf(real).filter((entry) => entry.isSymbolicLink());
  const linked = links.flatMap(({ name }) => {
    const link = join(real, name);
    const target = surroundings.wayTo(link)?.real;
    return target === undefined || dirname(target) === real ? [] : [link, ...packageOf(target, surroundings)];
  });
  return [directory, ...besides(real, surroundings), ...linked];
}

/** The nearest directory above a program that is a package; else the program, and what its prefix has beside it. */
function packageOf(program: string, surroundings: Surroundings): readonly string[] {
  if (surroundings.isShown(program)) return [];
  const modules = program.indexOf("/node_modules/");
  if (modules > 0) return [program.slice(0, modules + "/node_modules".length)];
  for (let above = dirname(program); surroundings.isNarrow(above); above = dirname(above)) {
    if (!isPackage(above)) continue;
    const named = join(above, "bin/python3");
    const python = realPath(named) ?? named;
    return [above, ...(python.startsWith(`${above}/`) ? [] : [named, ...packageOf(python, surroundings)])];
  }
  const directory = dirname(program);
  return [program, ...(isBin(directory) ? [directory, ...besides(directory, surroundings)] : [])];
}

function besides(directory: string, { toolHomes, isNarrow }: Surroundings): readonly string[] {
  const prefix = dirname(directory);
  if (basename(directory) === ".bin" && basename(prefix) === "node_modules") return [prefix];
  if (!isBin(directory) || toolHomes.includes(prefix) || !isNarrow(prefix)) return [];
  return prefixParts.map((part) => join(prefix, part));
}

function isBin(directory: string): boolean {
  return /^s?bin$/.test(basename(directory));
}

function isPackage(directory: string): boolean {
  return (
    manifests.some((name) => existsSync(join(directory, name))) ||
    entriesOf(directory).some(({ name }) => name.endsWith(".dist-info"))
  );
}

/** Empty for what is no directory, or may not be read. */
function entriesOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return [];
  }
}
