import { existsSync, lstatSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type RecordedCall, recordedCalls } from "./recorded-calls.ts";
import { type Task, taskIn } from "./tasks.ts";

/** What a folder holds that can be played. */
export interface RecordedWork {
  /** Git directories: `…/.git` of a work tree, or bare repositories. */
  readonly repositories: readonly string[];
  readonly calls: readonly RecordedCall[];
  readonly tasks: readonly Task[];
}

const maxDepth = 8;
const maxTranscriptBytes = 64 * 1024 * 1024;
const transcripts = /\.(?:jsonl|json|traj)$/;

/** Everything in a folder and below, recognised by its look; nothing of it is run. Throws if there is no such folder. */
export function recordedWork(folder: string): RecordedWork {
  const repositories: string[] = [];
  const calls: RecordedCall[] = [];
  const tasks: Task[] = [];
  const visit = (directory: string, depth: number): void => {
    if (isBareRepository(directory)) {
      repositories.push(directory);
      return;
    }
    const gitDir = join(directory, ".git");
    // A link may lead to a foreign repository.
    const isLink = lstatSync(gitDir, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    if (!isLink && isBareRepository(gitDir)) repositories.push(gitDir);
    if (existsSync(join(directory, ".meta/config.json"))) {
      const task = taskIn(directory);
      if (task !== undefined) tasks.push(task);
      return;
    }
    for (const entry of readdirSync(directory, { withFileTypes: true }).sort((one, other) =>
      one.name < other.name ? -1 : 1,
    )) {
      const path = join(directory, entry.name);
      const isShown = !entry.name.startsWith(".") && entry.name !== "node_modules";
      if (entry.isDirectory() && isShown && depth < maxDepth) visit(path, depth + 1);
      if (entry.isFile() && transcripts.test(entry.name) && statSync(path).size <= maxTranscriptBytes) {
        calls.push(...recordedCalls(path));
      }
    }
  };
  visit(folder, 0);
  return { repositories, calls, tasks };
}

function isBareRepository(directory: string): boolean {
  return ["HEAD", "objects", "refs"].every((name) => existsSync(join(directory, name)));
}
