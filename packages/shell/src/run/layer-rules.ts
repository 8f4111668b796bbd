import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { IgnoredPaths } from "@gennai/git/ignored-paths";
import type { AgreedControl } from "@gennai/governance/policies/files/agreed-control";
import { isMadeByTools } from "@gennai/governance/policies/files/made-by-tools";
import { readGitIndex } from "@gennai/machine/git-data/git-index";
import type { RepositoryPaths } from "@gennai/machine/host/repository-paths";
import { isWithin } from "@gennai/protocol/is-within";
import type { SessionLayer } from "@gennai/stage/layer/session-layer";
import type { LayerRules } from "@gennai/stage/observe/layer-part";
import { stageParts } from "@gennai/stage/transaction/staged-root";
import type { Transaction } from "@gennai/stage/transaction/transaction";
import type { GitOnStage } from "./git-on-stage.ts";

/**
 * Which of a staged command's changes go into the session's layer: what git ignores by the rules from before or after the command,
 * and bytecode of Python; not what git tracks. If a person allowed the command itself, some of it may come into the workspace:
 * what an install puts into its directories, and products of builds.
 */
export function layerRules(
  repository: RepositoryPaths,
  {
    transaction,
    git,
    ignored,
    layer,
    agreed,
    proposed = [],
    stays,
  }: {
    readonly transaction: Transaction;
    readonly git: GitOnStage;
    /** Of the work tree. */
    readonly ignored: IgnoredPaths;
    readonly layer: SessionLayer | undefined;
    /** Undefined if no person allowed the command. */
    readonly agreed: AgreedControl | undefined;
    /** Proposed files of the work tree: they count as tracked. */
    readonly proposed?: readonly string[];
    /** Whether a path in git's data stays in the session. @param absolute of the user's */
    stays(absolute: string): boolean;
  },
): LayerRules {
  const top = transaction.roots[0]?.path ?? "/";
  const directory = repository.writable.length === 1 ? relative(top, repository.writable[0] ?? "") : undefined;
  let tracked: { readonly by: Tracked | undefined } | undefined;
  const trackedNow = (): Tracked | undefined => {
    tracked ??= { by: trackedBy(repository, transaction, proposed) };
    return tracked.by;
  };
  return {
    layer,
    // A log means nothing without its ref's place; git begins a new one.
    git:
      directory === undefined
        ? undefined
        : { directory, isOfSession: (path) => !isLog(path) && stays(join(top, path)) },
    ignored: async (names) => {
      const before = new Set([...(await ignored.among(names)), ...names.filter((name) => bytecode.test(name))]);
      if (!names.some((name) => /(?:^|\/)\.gitignore$/.test(name))) return before;
      const asked = ["check-ignore", "-z", "--no-index", "--stdin"];
      return new Set([...before, ...((await git.list(git.workTree, asked, names)) ?? [])]);
    },
    isTracked: (path) => trackedNow()?.files.has(path) !== false,
    holdsTracked: (directory) => trackedNow()?.directories.has(directory) !== false,
    isAgreed: (path) =>
      agreed !== undefined && (isMadeByTools(path) || (agreed.installs && /(?:^|\/)node_modules\//.test(path))),
  };
}

/** Python runs it in place of the source beside it, which is what a person reads. */
const bytecode = /(?:^|\/)__pycache__\/|\.py[co]$/i;

function isLog(path: string): boolean {
  return /(?:^|\/)\.git\/logs(?:\/|$)/.test(path);
}

interface Tracked {
  readonly files: ReadonlySet<string>;
  /** The directories above them. */
  readonly directories: ReadonlySet<string>;
}

/**
 * The paths tracked by git's index before and after the command; undefined if an index cannot be read, because git may then track
 * anything.
 */
function trackedBy(
  { writable }: RepositoryPaths,
  { roots }: Transaction,
  proposed: readonly string[],
): Tracked | undefined {
  const index = join(writable.at(-1) ?? "", "index");
  const root = roots.find(({ path }) => isWithin(index, { directory: path }));
  const staged = root === undefined ? [] : [join(root.directory, stageParts.upper, relative(root.path, index))];
  const files = new Set<string>();
  const directories = new Set<string>();
  const add = (path: string): void => {
    files.add(path);
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const directory = path.slice(0, end);
      if (directories.has(directory)) break;
      directories.add(directory);
    }
  };
  proposed.forEach(add);
  for (const file of [index, ...staged]) {
    if (!existsSync(file)) continue;
    const entries = readGitIndex(readFileSync(file));
    if (entries === undefined) return undefined;
    for (const key of entries.keys()) add(key.split("\0")[0] ?? "");
  }
  return { files, directories };
}
