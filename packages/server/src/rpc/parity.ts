import { limitsDigest } from "@gennai/governance/limits/limits";
import { digestOf } from "@gennai/protocol/digest";
import type { LoadedLimits } from "@gennai/sessions/rules/load-limits";
import type { LoadedHooks } from "@gennai/sessions/rules/workspace-hooks";
import { releaseFiles } from "./release-files.ts";

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
