import { lstatSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, parse, sep } from "node:path";
import type { WorkspacePath } from "@gennai/governance/effect";
import { isWithin } from "@gennai/protocol/is-within";
import { systemErrorCode } from "../../system-error.ts";
import { badPath, checkNewNames, checkPathSyntax, checkVisible } from "./path-syntax.ts";

export interface ResolveOptions {
  /** It names a file that a change was recorded of: any name that the disk can have, also where nothing is now. */
  readonly isRecorded?: boolean;
}

/**
 * Resolves a path as `Workspace.resolve` promises. Links are followed one component at a time, so that a missing leaf below
 * a link, and a link to nothing, come out where a write would land. Directories of the kernel are never entered: what
 * /proc/self/root shows depends on who looks.
 *
 * @param root canonical absolute path of the workspace
 * @param options.isRecorded it is the name of a file that was changed: it may be any that the disk can have
 */
export function resolvePath(root: string, raw: string, { isRecorded = false }: ResolveOptions = {}): WorkspacePath {
  if (!isRecorded) checkPathSyntax(raw);
  const start = startOf(root, raw);
  const walked = walk(root, raw, { ...start, nameIn: isRecorded ? (_directory, name) => name : nameOnDisk });
  if (!isRecorded) checkNew(root, raw, walked);
  const absolute = canonicalCase(walked);
  const inside = isWithin(absolute, { directory: root });
  const relative = inside ? absolute.slice(root.length + 1).replaceAll(sep, "/") : "";
  if (!isRecorded) checkVisible(inside ? relative : absolute);
  return { raw, relative, absolute, inside };
}

function checkNew(root: string, raw: string, { path, unseen }: Walked): void {
  // Windows itself reads such names differently, so that nothing can have them there.
  if (process.platform === "win32") checkNewNames(raw, raw.split("/"), true);
  else if (unseen > 0) {
    const [first = ""] = raw.split("/");
    checkNewNames(raw, path.split(sep).slice(-unseen), look(root, raw, root + sep + first) === "unseen");
  }
}

interface Walked {
  readonly path: string;
  /** Number of components at the end that were added without looking, because nothing is there or looking is not permitted. */
  readonly unseen: number;
}

function walk(
  root: string,
  raw: string,
  { directory, rest, nameIn }: ReturnType<typeof startOf> & { readonly nameIn: typeof nameOnDisk },
): Walked {
  const pending = rest.split(separators).reverse();
  let path = directory;
  let unseen = 0;
  let links = 0;
  let isDirectory = true;
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name === "" || name === ".") continue;
    if (!isDirectory) throw badPath(`${raw}: ${path} is a file, nothing can be below it.`);
    if (name === "..") {
      path = dirname(path);
      unseen = Math.max(0, unseen - 1);
      continue;
    }
    const own = unseen > 0 ? name : nameIn(path, name);
    const next = path.endsWith(sep) ? path + own : path + sep + own;
    const found = unseen > 0 ? "unseen" : look(root, raw, next);
    if (found === "unseen") {
      path = next;
      unseen += 1;
    } else if (typeof found === "object") {
      links += 1;
      if (links > maximumLinks) throw badPath(`${raw}: too many symbolic links, perhaps a loop (ELOOP).`);
      const target = startOf(path, found.leadsTo);
      path = target.directory;
      pending.push(...target.rest.split(separators).reverse());
    } else {
      path = next;
      isDirectory = found === "directory";
    }
  }
  return { path, unseen };
}

/** The name that an entry has: people and models do not see in which Unicode form a name is written. */
function nameOnDisk(directory: string, name: string): string {
  if (/^[ -~]*$/.test(name)) return name;
  try {
    const same = readdirSync(directory).filter((each) => each.normalize() === name.normalize());
    return same.length === 1 ? (same[0] ?? name) : name;
  } catch {
    return name;
  }
}

function look(root: string, raw: string, path: string): "directory" | "file" | "unseen" | { readonly leadsTo: string } {
  if (kernelDirectories.has(path) && !isWithin(root, { directory: path })) return "unseen";
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return "unseen";
    if (stat.isSymbolicLink()) return { leadsTo: readlinkSync(path) };
    return stat.isDirectory() ? "directory" : "file";
  } catch (error) {
    if (systemErrorCode(error) === "ENAMETOOLONG") throw badPath(`${raw}: a name in it is too long.`, undefined, error);
    // Looking is not permitted, or the entry vanished between two calls. When the path is used, its directories are held, and
    // links refused.
    return "unseen";
  }
}

/** Where walking starts: at `base`, or at the top of the file system for an absolute path. */
function startOf(base: string, path: string): { readonly directory: string; readonly rest: string } {
  if (isWithin(path, { directory: base })) return { directory: base, rest: path.slice(base.length) };
  const top = parse(path).root;
  return top === "" ? { directory: base, rest: path } : { directory: parse(base).root, rest: path.slice(top.length) };
}

/** The path as written on disk: a file system that ignores case also finds a file by other letters. */
function canonicalCase({ path, unseen }: Walked): string {
  if (process.platform === "linux") return path;
  const components = path.split(sep);
  const seen = components.slice(0, components.length - unseen).join(sep);
  try {
    return [realpathSync.native(seen === "" ? sep : seen), ...components.slice(components.length - unseen)].join(sep);
  } catch {
    return path;
  }
}

const separators = sep === "/" ? /\// : /[/\\]/;
const maximumLinks = 40;
const kernelDirectories: ReadonlySet<string> = new Set(["/proc", "/dev", "/sys"]);
