import { lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import type { ControlPath } from "@gennai/governance/policies/files/control-paths";
import { gitSettingsIn } from "@gennai/machine/git-data/git-settings-in";
import { systemErrorCode } from "@gennai/machine/system-error";
import { isWithin } from "@gennai/protocol/is-within";

/** Absolute paths that control files refer to; a directory stands for everything in it. Tools obey these like control files. */
export type ControlTargets = ReadonlyMap<string, ControlPath>;

export interface ControlLeads {
  /** Control paths that are symbolic links. */
  readonly links: ReadonlyMap<string, ControlPath>;
  /** Absolute paths of git configuration files. */
  readonly configurations: readonly string[];
}

/** More than any project has. */
const maxLooked = 20_000;
const maxConfigurations = 200;
const maxBytes = 1024 * 1024;
/** The number of links that the system follows. */
const maxLinks = 40;

/**
 * Where links among control files lead, link by link, and what git's configuration includes or names: programs, hooks,
 * attributes. Only what lies in `roots`. Throws if there are too many to check.
 *
 * @param options.workTrees tops from which relative paths in the configuration are resolved
 */
export function controlTargets(
  { links, configurations }: ControlLeads,
  options: { readonly roots: readonly string[]; readonly workTrees: readonly string[]; readonly home: string },
): ControlTargets {
  const targets = new Map<string, ControlPath>();
  const known = new Map<string, string | undefined>();
  let looked = 0;
  const lead = (path: string, control: ControlPath, isLink: boolean): void => {
    const { links: way, end } = follow(path, known);
    for (const link of way) {
      if ((!isLink || link !== path) && mayLead(link, control) && !targets.has(link)) targets.set(link, control);
    }
    // A link to a directory that contains the link makes no control files of that directory's content.
    if (
      end === undefined ||
      (isLink && isWithin(path, { directory: end })) ||
      targets.has(end) ||
      !mayLead(end, control)
    )
      return;
    targets.set(end, control);
    for (const link of linksIn(end)) lead(link, control, true);
  };
  const mayLead = (target: string, control: ControlPath): boolean => {
    const isInside = options.roots.some((root) => isWithin(target, { directory: root }));
    if (!isInside || options.roots.some((root) => isWithin(root, { directory: target }))) return false;
    // A program that scripts run by name may be an ordinary source of this project.
    return control.what !== "a program that scripts run by its name" || target.includes("/node_modules/");
  };
  const linksIn = (path: string): readonly string[] => {
    looked += 1;
    if (looked > maxLooked) throw new Error(`control files lead to more than ${maxLooked} others, by way of ${path}.`);
    if (linkTarget(path) !== undefined) return [path];
    return namesIn(path).flatMap((name) => linksIn(join(path, name)));
  };
  for (const { path, what } of namedByGit(configurations, options)) lead(path, { level: "protected", what }, false);
  // If a path has several controls, the first counts.
  const byLevel = [...links].sort(([, one], [, other]) => one.level.localeCompare(other.level));
  for (const [path, control] of byLevel) lead(path, control, true);
  return targets;
}

/** Configuration files of the user and the system: the hooks and attributes they name may be in the workspace. */
export function userConfigurations(home: string): readonly string[] {
  const configHome = process.env["XDG_CONFIG_HOME"] || join(home, ".config");
  return ["/etc/gitconfig", join(home, ".gitconfig"), join(configHome, "git", "config")];
}

/** What a path controls because it is a target, or lies in one. */
export function targetControl(targets: ControlTargets, path: string): ControlPath | undefined {
  for (let at = path; ; at = dirname(at)) {
    const control = targets.get(at);
    if (control !== undefined || dirname(at) === at) return control;
  }
}

/** The links on a path, and where it ends; undefined if it does not end. */
function follow(
  path: string,
  known = new Map<string, string | undefined>(),
): { readonly links: readonly string[]; readonly end: string | undefined } {
  const links: string[] = [];
  let at = "/";
  const left = path.split("/").filter((part) => part !== "");
  for (let part = left.shift(); part !== undefined; part = left.shift()) {
    at = resolve(at, part);
    const target = known.has(at) ? known.get(at) : linkTarget(at);
    known.set(at, target);
    if (target === undefined) continue;
    if (links.length >= maxLinks) return { links, end: undefined };
    links.push(at);
    left.unshift(...target.split("/").filter((each) => each !== ""));
    at = isAbsolute(target) ? "/" : dirname(at);
  }
  return { links, end: at };
}

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch (error) {
    if (unreachable.has(systemErrorCode(error) ?? "")) return undefined;
    throw error;
  }
}

const unreachable: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "EACCES", "EINVAL", "ENAMETOOLONG"]);

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (unreachable.has(systemErrorCode(error) ?? "")) return [];
    throw error;
  }
}

interface NamedByGit {
  /** Absolute. */
  readonly path: string;
  readonly what: string;
}

/** What git's configuration includes, and the files and directories that it names. */
function namedByGit(
  configurations: readonly string[],
  { workTrees, home }: { readonly workTrees: readonly string[]; readonly home: string },
): readonly NamedByGit[] {
  const named: NamedByGit[] = [];
  const queue = [...configurations];
  const seen = new Set(queue);
  for (const path of queue) {
    if (queue.length > maxConfigurations) throw new Error(`git's configuration includes too many files, e.g. ${path}.`);
    const settings = gitSettingsIn(textOf(path));
    const own = settings.findLast(({ name }) => name === "core.worktree")?.value;
    const tops = [
      ...workTrees,
      ...(basename(dirname(path)) === ".git" ? [dirname(dirname(path))] : []),
      ...(own === undefined ? [] : [resolve(dirname(path), own)]),
    ];
    const from = (bases: readonly string[], value: string): readonly string[] =>
      bases.map((base) => resolve(base, value.replace(/^~(?=\/)/, home)));
    for (const { name, value } of settings) {
      if (/^include(?:if\..*)?\.path$/.test(name)) {
        for (const included of from([dirname(path)], value)) {
          named.push({ path: included, what: "git's configuration" });
          if (!seen.has(included)) queue.push(included);
          seen.add(included);
        }
      } else if (name === "core.hookspath") {
        for (const each of from(tops, value)) named.push({ path: each, what: "a directory of hooks" });
      } else if (name === "core.attributesfile" || name === "core.excludesfile") {
        for (const each of from(tops, value)) named.push({ path: each, what: "what git's configuration names" });
      } else {
        const words = value.split(/[\s"';|&!]+/).filter((word) => word !== "");
        for (const each of words.flatMap((word) => from(tops, word)).filter(isFile))
          named.push({ path: each, what: "what git's configuration names" });
      }
    }
  }
  return named;
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch (error) {
    if (systemErrorCode(error) !== undefined || path.includes("\0")) return false;
    throw error;
  }
}

function textOf(path: string): string {
  try {
    const stat = statSync(path);
    if (!stat.isFile()) return "";
    if (stat.size > maxBytes) throw new Error(`${path} is too large for a configuration of git.`);
    return readFileSync(path, "utf8");
  } catch (error) {
    if (systemErrorCode(error) !== undefined) return "";
    throw error;
  }
}
