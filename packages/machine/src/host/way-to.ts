import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { systemErrorCode } from "../system-error.ts";

/** A symbolic link, and its text. */
export interface Link {
  readonly path: string;
  readonly target: string;
}

/** Where a path leads. */
export interface Way {
  readonly real: string;
  /** The links on the way, as they are met: with them and `real`, the path leads there in an otherwise empty world. */
  readonly links: readonly Link[];
}

/** As many as the kernel follows. */
const mostLinks = 40;

/** Finds ways, and looks at each path once. */
export function wayFinder(): (path: string) => Way | undefined {
  const seen = new Map<string, string | undefined>();
  return (path) =>
    wayTo(path, (next) => {
      if (!seen.has(next)) seen.set(next, linkAt(next));
      return seen.get(next);
    });
}

/** Undefined if the path leads nowhere. @param path absolute */
export function wayTo(path: string, look: typeof linkAt = linkAt): Way | undefined {
  const links: Link[] = [];
  let real = "/";
  const rest = partsOf(path);
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    const next = name === ".." ? dirname(real) : join(real, name);
    const target = look(next);
    if (target === undefined || links.length > mostLinks) return undefined;
    if (target === "") {
      real = next;
      continue;
    }
    links.push({ path: next, target });
    rest.unshift(...partsOf(target));
    if (isAbsolute(target)) real = "/";
  }
  return { real, links };
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}

/** A link's text; empty for anything else that exists, undefined for what does not or is out of reach. */
function linkAt(path: string): string | undefined {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat && (stat.isSymbolicLink() ? readlinkSync(path) : "");
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return undefined;
  }
}

/** Undefined if the path leads nowhere. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}
