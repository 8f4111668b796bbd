import { readFileSync } from "node:fs";
import { join } from "node:path";
import { stashedPaths } from "../git/new-commits.ts";
import type { GitEffect } from "../stage/git-effects.ts";
import { isShown } from "./shows-object.ts";
import type { StagedWork } from "./staged-work.ts";

/** More entries than these nobody pops at once. */
const maxEntries = 20;

/**
 * True when the log of the stash lost only entries whose every file the tree now shows as the entry held it: what `git stash pop` does
 * where nothing had to be merged. Nothing is lost then, whoever had put it away.
 */
export async function isPopped(
  { root, repository }: Pick<GitEffect, "root" | "repository">,
  work: StagedWork,
  home: string,
): Promise<boolean> {
  const log = work.absolute({ root, path: join(repository, "logs/refs/stash") });
  const before = entriesOf(readFileSync(log, "latin1"));
  const after = new Set(entriesOf(work.shown(log)?.toString("latin1") ?? ""));
  const gone = before.filter((entry) => !after.has(entry));
  if (gone.length === 0 || gone.length > maxEntries) return false;
  for (const entry of gone) {
    const paths = await stashedPaths(work.workspaceRoot, entry, home).catch(() => undefined);
    if (paths === undefined || paths.length === 0) return false;
    if (!paths.every(({ path, after: held }) => isShown(work.shown(join(work.top, path)), held))) return false;
  }
  return true;
}

/** Names of the commits that the lines of a log lead to. */
function entriesOf(log: string): readonly string[] {
  return log.split("\n").flatMap((line) => /^[0-9a-f]+ ([0-9a-f]+) /.exec(line)?.[1] ?? []);
}
