import { lstat, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { changeCalls } from "../recorded/change-calls.ts";
import type { RecordedChange, RecordedCommit } from "../recorded/recorded-commits.ts";
import type { Score } from "../score/score.ts";
import { playTurn } from "./played-turn.ts";

/** Git's, and the ledger's mirror. */
const kept = new Set([".git", ".orchestration"]);

/** What counts the calls that change something, and what counts the files that they change. */
export interface CommitScores {
  readonly edits: Score;
  readonly files: Score;
}

/**
 * Makes each commit's changes again on its parent's files: Read, then the edits, through the gate of a real server. Each file is
 * compared with the commit's blob, byte for byte.
 */
export async function playCommits(commits: readonly RecordedCommit[], scores: CommitScores): Promise<void> {
  await using server = await startTestServer({ steps: [{ text: "Nothing." }] });
  for (const [index, commit] of commits.entries()) await playCommit(server, commit, index % 2 === 0, scores);
}

async function playCommit(
  server: TestServer,
  { id, changes }: RecordedCommit,
  oneCall: boolean,
  { edits, files }: CommitScores,
): Promise<void> {
  const { workspace } = server;
  const played = changes.flatMap((change) => {
    const calls = changeCalls(change, oneCall);
    if (calls !== undefined) return [{ change, calls }];
    files.leaveOut("binary, or other line ends alone", `${id.slice(0, 10)} ${change.path}`);
    return [];
  });
  for (const name of await readdir(workspace.root)) {
    if (!kept.has(name)) await rm(join(workspace.root, name), { recursive: true, force: true });
  }
  for (const { change } of played) if (change.before !== undefined) await workspace.write(change.path, change.before);
  const known = played.filter(({ change }) => change.before !== undefined);
  const reads = known.map(({ change: { path } }) => ({ name: "Read", args: { file_path: path } }));
  const answers = [reads, ...played.map(({ calls }) => calls)].filter((calls) => calls.length > 0);
  const results = (await playTurn(server, answers)).slice(reads.length > 0 ? 1 : 0);
  for (const [at, { change, calls }] of played.entries()) {
    const example = `${id.slice(0, 10)} ${change.path}`;
    const made = calls.map((_call, index) => results[at]?.[index] ?? { outcome: "failed" as const, why: "no result" });
    for (const { outcome, why } of made) edits.add(outcome, outcome === "accepted" ? {} : { why, example });
    const identical = await isAsRecorded(server, change);
    const first = made.find(({ outcome }) => outcome !== "accepted");
    if (identical) files.add("accepted", { identical });
    else files.add(first?.outcome ?? "failed", { why: first?.why ?? "other bytes than the commit's", example });
  }
}

async function isAsRecorded(server: TestServer, { path, after }: RecordedChange): Promise<boolean> {
  const file = server.workspace.path(path);
  const found = await lstat(file).catch(() => undefined);
  if (after === undefined || found === undefined) return after === undefined && found === undefined;
  return found.isFile() && after.equals(await readFile(file));
}
