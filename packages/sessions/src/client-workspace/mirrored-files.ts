import { repositoryInstructions } from "../prompt/load-skills.ts";
import { projectNoteFiles, projectNotePaths } from "../prompt/project-notes.ts";

/** Maximum directories whose own notes are fetched. */
const maxNoteDirectories = 50;

/** Files that steer the agent or define the project's check, by the names under which the server looks for them. */
const files: readonly string[] = [
  ...projectNotePaths,
  ".intentignore",
  ".orchestration/active_intents.yaml",
  ".pi/damage-control-rules.yaml",
  ...["package.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "tsconfig.json"],
  ...["Cargo.toml", "go.mod", "ruff.toml", "pyproject.toml"],
];

/** Including everything below them. */
const directories: readonly string[] = [
  ".gennai",
  ...repositoryInstructions.filter((place) => !place.startsWith(".gennai/")),
];

/** What a turn needs to know of a workspace. @param workedOn files whose directories may have their own notes */
export function mirroredFiles(workedOn: Iterable<string>): {
  readonly files: readonly string[];
  readonly directories: readonly string[];
} {
  const above = new Set<string>();
  for (const file of workedOn) {
    const names = file.split("/").slice(0, -1);
    for (const index of names.keys()) above.add(names.slice(0, index + 1).join("/"));
  }
  const notes = [...above]
    .sort()
    .slice(0, maxNoteDirectories)
    .flatMap((directory) => projectNoteFiles.map((name) => `${directory}/${name}`));
  return { files: [...files, ...notes], directories };
}
