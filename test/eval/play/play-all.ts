import { recordedCommits } from "../recorded/recorded-commits.ts";
import { recordedTree } from "../recorded/recorded-tree.ts";
import type { RecordedWork } from "../recorded/recorded-work.ts";
import { Score } from "../score/score.ts";
import { playCalls } from "./play-calls.ts";
import { playCommits } from "./play-commits.ts";
import { playSearches, recordedSearches } from "./play-searches.ts";
import { playTasks } from "./play-tasks.ts";
import { spread } from "./spread.ts";

/** How many of each kind are played at most. */
export interface Amounts {
  /** Of each repository. */
  readonly commits: number;
  readonly calls: number;
  /** In each repository. */
  readonly searches: number;
  readonly tasks: number;
}

export interface PlayedWork {
  readonly scores: readonly Score[];
  /** Calls of tools that are not here, by name. */
  readonly otherTools: ReadonlyMap<string, number>;
}

/** As much of recorded calls as has to fit the tools, as it is or after normalising. */
const leastFitting = 0.98;

/** Plays recorded work through real servers, one kind after the other. @param onPart told what begins */
export async function playAll(
  work: RecordedWork,
  amounts: Amounts,
  onPart: (text: string) => void,
): Promise<PlayedWork> {
  const scores = {
    edits: new Score("edits of commits"),
    files: new Score("files of commits", { isCompared: true }),
    schemas: new Score("calls"),
    commands: new Score("shell commands"),
    searches: new Score("searches", { isCompared: true }),
    tasks: new Score("tasks", { isCompared: true }),
  };
  const searches = recordedSearches(work.calls);
  for (const repository of work.repositories) {
    onPart(`commits of ${repository}`);
    await playCommits(await recordedCommits(repository, amounts.commits), scores);
    const tree = amounts.searches === 0 || searches.length === 0 ? undefined : await recordedTree(repository);
    if (tree === undefined) continue;
    onPart(`searches in ${repository}`);
    await playSearches(tree, spread(searches, amounts.searches), scores.searches);
  }
  const otherTools = new Map<string, number>();
  if (work.calls.length > 0) {
    onPart(`${work.calls.length} calls`);
    await playCalls(spread(work.calls, amounts.calls), { ...scores, otherTools });
  }
  if (work.tasks.length > 0) {
    onPart(`${work.tasks.length} tasks`);
    await playTasks(spread(work.tasks, amounts.tasks), scores.tasks);
  }
  return { scores: Object.values(scores).filter(({ total }) => total > 0), otherTools };
}

/** What is not as it has to be, a sentence each: what was let through has to be what was recorded. */
export function shortfalls(scores: readonly Score[]): readonly string[] {
  return scores.flatMap((score) => {
    const { name, isCompared, identical, fitting } = score;
    const differing = score.of("accepted") + score.of("failed") - identical;
    if (isCompared && differing > 0) return [`${name}: ${differing} are not as recorded.`];
    if (name === "calls" && fitting < leastFitting) {
      return [`calls: ${(100 * fitting).toFixed(1)} % fit, at least ${100 * leastFitting} % should.`];
    }
    return [];
  });
}
