import type { RefMove } from "@gennai/governance/tool";
import { git } from "./run/run-git.ts";

/**
 * Takes refs back to where they were, each only if it is still where it was left, and with HEAD's commit the entries of the index
 * that are still as that commit has them. A stash that was made is dropped, one that was taken away is there again, above all others.
 * Files are left alone, and so are branches that other work trees are on.
 *
 * @param moves for `refs/stash`, the id of each stash that was made (`to`) or taken away (`from`)
 * @returns names of what stays as it is, of the index too. Rejects as `git` does.
 */
export async function takeRefsBack(directory: string, moves: readonly RefMove[]): Promise<readonly string[]> {
  const run = (...args: string[]) => git(args, { directory, writes: "working-tree" });
  const ask = async (...args: string[]): Promise<string> => (await run(...args)).stdout.trim();
  const left: string[] = [];
  if (moves.length === 0) return left;
  const was = await ask("rev-parse", "HEAD");
  // HEAD first: a branch that it is on does not go.
  const isHead = ({ name }: RefMove): number => Number(name === "HEAD");
  for (const { name, from = "", to } of moves.toSorted((one, other) => isHead(other) - isHead(one))) {
    const reason = ["-m", "gennai: take back"];
    if (name === "HEAD") {
      const branch = from.replace(/^ref: /, "");
      const isStill = `ref: ${await ask("symbolic-ref", "HEAD")}` === to && (await ask("rev-parse", branch)) !== branch;
      if (!isStill || (await run("symbolic-ref", ...reason, name, branch)).code !== 0) left.push(name);
      continue;
    }
    if (name === "refs/stash") {
      const at = (await ask("rev-list", "--walk-reflogs", name)).split("\n").indexOf(to ?? from);
      const subject = await ask("log", "-1", "--format=%s", from || "HEAD");
      const back = to === undefined ? ["store", "--message", subject, from] : ["drop", "--quiet", `stash@{${at}}`];
      const isKnown = to === undefined ? at === -1 : from === "" && at >= 0;
      if (!isKnown || (await run("stash", ...back)).code !== 0) left.push(name);
      continue;
    }
    const users = await ask("for-each-ref", "--format=%(HEAD)%(worktreepath)", name);
    const isFree = users === "" || (users.startsWith("*") && from !== "");
    const none = "0".repeat((to ?? from).length);
    const change = ["update-ref", ...reason, name, from || none, to ?? none];
    if (!isFree || (await run(...change)).code !== 0) left.push(name);
  }
  const is = await ask("rev-parse", "HEAD");
  if (was !== is && (await run("read-tree", "-i", "-m", was, is)).code !== 0) left.push(".git/index");
  return left;
}
