import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { limitsDigest } from "@gennai/governance/limits/limits";
import type { CompiledRules } from "@gennai/governance/rules/compile/compile-rules";
import { floorRulesYaml } from "@gennai/governance/rules/floor-rules";
import { digestOf, sha256Hex } from "@gennai/protocol/digest";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import { ruleFilePaths, ruleFileStamp } from "@gennai/sessions/rules/read-rule-file";
import type { LoadedHooks } from "@gennai/sessions/rules/workspace-hooks";
import { isolationOf } from "./open-stages.ts";

/** Digests that describe a deployment, for comparing two that should be equal. */
export interface Parity {
  readonly version: string;
  /** SHA-256 by part. */
  readonly policy: ReadonlyMap<string, string>;
  /** SHA-256 by file of the program. */
  readonly release: ReadonlyMap<string, string>;
}

/** Read anew each time, but for the program's files, which it was started from. */
export function createParity({
  version,
  releaseDirectory,
  workspace,
  services,
  protectedBranches,
}: {
  readonly version: string;
  /** Directory of the program's files; undefined if it runs from source. */
  readonly releaseDirectory: string | undefined;
  /** Real path of the default workspace; without one, its rules and hooks are left out. */
  readonly workspace: string | undefined;
  readonly services: SessionManager["services"];
  readonly protectedBranches: readonly string[];
}): () => Promise<Parity> {
  let release: Promise<ReadonlyMap<string, string>> | undefined;
  return async () => {
    release ??= releaseDirectory === undefined ? Promise.resolve(new Map()) : releaseFiles(releaseDirectory);
    const policy = new Map<string, string>();
    if (workspace !== undefined) {
      const { rules } = await services.governanceOf(await services.openWorkspace(workspace));
      policy.set("rules", await rulesDigest({ root: workspace, home: homedir() }, await rules.current()));
    }
    policy.set("limits", limitsDigest((await services.loadLimits()).current()));
    if (workspace !== undefined) policy.set("hooks", digestOf(hooksFacts(await services.loadHooks(workspace))));
    policy.set("branches", digestOf([...protectedBranches].sort()));
    policy.set("isolation", digestOf(isolationOf(services.stages)));
    return { version, policy, release: await release };
  };
}

/**
 * Digest of a workspace's rules, independent of its path: SHA-256 over the floor, the user's and the project's files, and the
 * rules in force, which differ if a file became invalid or disappeared. Warnings are excluded: they concern the place, not the
 * rules.
 */
async function rulesDigest(
  place: { readonly root: string; readonly home: string },
  inForce: CompiledRules,
): Promise<string> {
  const texts = await Promise.all(
    ruleFilePaths(place).map(async (at) => {
      const bytes = ruleFileStamp(at) === "" ? undefined : await readFile(at.path).catch(() => undefined);
      return { name: `${at.layer}/${basename(at.path)}`, sha256: bytes === undefined ? "" : sha256Hex(bytes) };
    }),
  );
  return digestOf({ floor: sha256Hex(floorRulesYaml), texts, inForce: inForce.contentSha256 });
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
