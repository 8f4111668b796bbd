import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { limitsDigest } from "@gennai/governance/limits/limits";
import { digestOf } from "@gennai/protocol/digest";
import type { LoadedLimits } from "@gennai/sessions/rules/load-limits";
import type { LoadedHooks } from "@gennai/sessions/rules/workspace-hooks";

/** Digests that describe a deployment, for comparing two that should be equal. */
export interface Parity {
  readonly version: string;
  /** SHA-256 by part. */
  readonly policy: ReadonlyMap<string, string>;
  /** SHA-256 by file of the program. */
  readonly release: ReadonlyMap<string, string>;
}

export interface ParitySources {
  readonly version: string;
  /** Directory of the program's files; undefined if it runs from source. */
  readonly releaseDirectory?: string | undefined;
  /** SHA-256 of the rules of the default workspace, whatever its path; undefined without one. */
  readonly rules: () => Promise<string | undefined>;
  readonly limits: () => Promise<LoadedLimits>;
  /** Hooks of the default workspace; undefined without one. */
  readonly hooks: () => Promise<LoadedHooks | undefined>;
  readonly protectedBranches: readonly string[];
  readonly isolation: string;
}

/** Read anew each time, but for the program's files, which it was started from. */
export function createParity(sources: ParitySources): () => Promise<Parity> {
  let release: Promise<ReadonlyMap<string, string>> | undefined;
  return async () => {
    release ??=
      sources.releaseDirectory === undefined ? Promise.resolve(new Map()) : releaseFiles(sources.releaseDirectory);
    const [rules, limits, hooks] = await Promise.all([sources.rules(), sources.limits(), sources.hooks()]);
    return {
      version: sources.version,
      policy: new Map([
        ...(rules === undefined ? [] : ([["rules", rules]] as const)),
        ["limits", limitsDigest(limits.current())],
        ...(hooks === undefined ? [] : ([["hooks", digestOf(hooksFacts(hooks))]] as const)),
        ["branches", digestOf([...sources.protectedBranches].sort())],
        ["isolation", digestOf(sources.isolation)],
      ]),
      release: await release,
    };
  };
}

function hooksFacts({ hooks, problems }: LoadedHooks) {
  return {
    hooks: hooks.map(({ event, matcher, command, timeoutMs }) => ({
      event,
      matcher: matcher ?? "",
      command,
      timeoutMs,
    })),
    broken: problems.length > 0,
  };
}

/** Files of the program itself: chunks, page, notices. Not what the machine adds, like compile caches. */
const part = /\.(mjs|cjs|js|css|html|svg|woff2|ttf|txt|wasm|md|json|yaml)$/;
const left = /^(node_modules|\..*)$/;

/**
 * SHA-256 of each file of the program, by path below `directory`, in order; links and dot files are left out. Empty when
 * there is no such directory.
 */
async function releaseFiles(directory: string): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const path of (await pathsBelow(directory, "")).toSorted()) {
    const hash = createHash("sha256");
    await pipeline(createReadStream(join(directory, path)), hash);
    files.set(path, hash.digest("hex"));
  }
  return files;
}

async function pathsBelow(root: string, below: string): Promise<readonly string[]> {
  const entries = await readdir(join(root, below), { withFileTypes: true }).catch(() => []);
  const found = await Promise.all(
    entries.map(async (entry) => {
      if (left.test(entry.name)) return [];
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) return pathsBelow(root, path);
      return entry.isFile() && part.test(entry.name) ? [path] : [];
    }),
  );
  return found.flat();
}
