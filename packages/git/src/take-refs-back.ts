import type { RefMove } from "@gennai/governance/tool";
import { type GitResult, git } from "./run/run-git.ts";

const nameOfIndex = ".git/index";

/**
 * Takes refs and entries of the index back to where they were, each only if it is still where it was left, and with HEAD's commit
 * the entries that are still as that commit has them. A stash that was made is dropped, one that was taken away is there again, above
 * all others. Where a ref stays, so does the index. Files are left alone, and so are branches that other work trees are on.
 *
 * @param moves for `refs/stash`, the id of each stash that was made (`to`) or taken away (`from`)
 * @returns names of what stays as it is, of the index too. Rejects as `git` does.
 */
export async function takeRefsBack(directory: string, moves: readonly RefMove[]): Promise<readonly string[]> {
  const run: Run = (args, input = "") => git(args, { directory, writes: "working-tree", input });
  const ask = async (...args: string[]): Promise<string> => (await run(args)).stdout.trim();
  const left: string[] = [];
  if (moves.length === 0) return left;
  const was = await ask("rev-parse", "HEAD");
  // HEAD first: a branch that it is on does not go.
  const isHead = ({ name }: RefMove): number => Number(name === "HEAD");
  const refs = moves.filter((move) => !isEntry(move)).toSorted((one, other) => isHead(other) - isHead(one));
  for (const { name, from = "", to } of refs) {
    const reason = ["-m", "gennai: take back"];
    if (name === "HEAD") {
      const branch = from.replace(/^ref: /, "");
      const isStill = `ref: ${await ask("symbolic-ref", "HEAD")}` === to && (await ask("rev-parse", branch)) !== branch;
      if (!isStill || (await run(["symbolic-ref", ...reason, name, branch])).code !== 0) left.push(name);
      continue;
    }
    if (name === "refs/stash") {
      const at = (await ask("rev-list", "--walk-reflogs", name)).split("\n").indexOf(to ?? from);
      const subject = await ask("log", "-1", "--format=%s", from || "HEAD");
      const back = to === undefined ? ["store", "--message", subject, from] : ["drop", "--quiet", `stash@{${at}}`];
      const isKnown = to === undefined ? at === -1 : from === "" && at >= 0;
      if (!isKnown || (await run(["stash", ...back])).code !== 0) left.push(name);
      continue;
    }
    const users = await ask("for-each-ref", "--format=%(HEAD)%(worktreepath)", name);
    const isFree = users === "" || (users.startsWith("*") && from !== "");
    const none = "0".repeat((to ?? from).length);
    const change = ["update-ref", ...reason, name, from || none, to ?? none];
    if (!isFree || (await run(change)).code !== 0) left.push(name);
  }
  const is = await ask("rev-parse", "HEAD");
  const followsHead = was === is || (await run(["read-tree", "-i", "-m", was, is])).code === 0;
  const isBack = followsHead && (await takeEntriesBack(moves.filter(isEntry), { run, dry: left.length > 0 }));
  return isBack ? left : [...left, nameOfIndex];
}

/** What people are told that a move is of. */
export function nameOfMove(move: RefMove): string {
  return isEntry(move) ? nameOfIndex : move.name;
}

const maxNamed = 1_000;

type Run = (args: readonly string[], input?: string) => Promise<GitResult>;

/** Whether a move is of an entry of the index: no ref's name has a colon. */
function isEntry({ name }: RefMove): boolean {
  return name.startsWith(":");
}

/** @returns whether all are as they were; if `dry`, without a change */
async function takeEntriesBack(
  moves: readonly RefMove[],
  { run, dry }: { readonly run: Run; readonly dry: boolean },
): Promise<boolean> {
  if (moves.length === 0) return true;
  // More than a command line holds are found among all.
  const paths = moves.length > maxNamed ? [":/"] : moves.map(({ name }) => `:(top,literal)${name.slice(1)}`);
  const { stdout } = await run(["ls-files", "--stage", "--full-name", "-z", "--", ...paths]);
  const line = /^(\d+ [0-9a-f]+) 0\t(.+)$/s;
  const now = new Map(stdout.split("\0").map((text) => [`:${line.exec(text)?.[2]}`, line.exec(text)?.[1]]));
  const moved = moves.filter(({ name, from }) => now.get(name) !== from);
  const ours = dry
    ? []
    : await withObjects(
        moved.filter(({ name, to }) => now.get(name) === to),
        run,
      );
  // Mode 0 takes an entry out.
  const lines = ours.map(({ name, from, to = "" }) => `${from ?? to.replace(/^\d+/, "0")}\t${name.slice(1)}\0`);
  const isDone = lines.length === 0 || (await run(["update-index", "-z", "--index-info"], lines.join(""))).code === 0;
  return isDone && ours.length === moved.length;
}

/** Those whose earlier object git still has: it could read no other entry. The commit of a submodule is elsewhere. */
async function withObjects(moves: readonly RefMove[], run: Run): Promise<readonly RefMove[]> {
  const objects = moves.map(({ from = "" }) => (from.startsWith("160000 ") ? "" : from.replace(/^\d+ /, "")));
  const asked = objects.filter((id) => id !== "").map((id) => `${id}\n`);
  if (asked.length === 0) return moves;
  const { stdout } = await run(["cat-file", "--batch-check"], asked.join(""));
  return moves.filter((_move, at) => objects[at] === "" || !stdout.includes(`${objects[at]} missing\n`));
}
