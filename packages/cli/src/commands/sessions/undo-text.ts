import type { UndoneChangeSet } from "@gennai/client/session/agent-session";
import { type CheckpointList, goesBackByForce, type Restored, skipReasons } from "@gennai/client/session/checkpoints";
import { shellWords } from "@gennai/governance/command/shell-words";
import { type Checkpoint, notesOf } from "@gennai/protocol/model/session/checkpoint";
import { terminalSafe } from "../../terminal/terminal-safe.ts";

/** Most files that are named for one checkpoint. */
const maxNamed = 5;

const marks = { create: "+", update: "~", delete: "-" } as const;
const verbs = { create: "brought back", update: "restored", delete: "removed" } as const;
const futures = { create: "would bring back", update: "would restore", delete: "would remove" } as const;

/** Turns and their commands, oldest first. @param command how the user called us */
export function describeCheckpoints({ checkpoints, problem }: CheckpointList, command: string): string {
  const warning = problem === "" ? "" : `What commands change cannot be undone now: ${terminalSafe(problem)}\n`;
  if (checkpoints.length === 0) return `${warning}Nothing to undo: this session changed no file.\n`;
  return `${warning}${checkpoints.map(describe).join("")}Go back to before one: ${command} undo --turn N, or --to <checkpoint>\n`;
}

function describe(checkpoint: Checkpoint): string {
  const { kind, checkpointId, turnNumber, time, title, files, moreFiles } = checkpoint;
  const when = new Date(time).toISOString().slice(0, 16).replace("T", " ");
  const name =
    kind === "turn"
      ? `turn ${turnNumber}  ${when}  ${terminalSafe(title)}`
      : `  ${checkpointId}  ${when}  ${kind === "restore" ? "a restore" : terminalSafe(title)}`;
  const named = files.slice(0, maxNamed).map(({ path, operation }) => `${marks[operation]}${terminalSafe(path)}`);
  const more = files.length - named.length + moreFiles;
  const changed = [...named, ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
  const notes = notesOf(checkpoint).map((note) => `  (${terminalSafe(note)})`);
  return `${name}${notes.join("")}\n    ${changed}\n`;
}

/** Files in a list of checkpoints that undo leaves as they are. */
export function describeLeft(skipped: Restored["skipped"]): string {
  const listed = (heading: string, isForcible: boolean): string => {
    const those = skipped.filter((file) => goesBackByForce(file) === isForcible);
    const lines = those.map(({ path, reason }) => `  ${terminalSafe(path)}  ${skipReasons[reason]}\n`);
    return lines.length === 0 ? "" : `${heading}:\n${lines.join("")}`;
  };
  return listed("Stays as it is, unless named with --force", true) + listed("Cannot be undone", false);
}

/** What an undo that is about to begin cannot take back. */
export function describeStaying(skipped: UndoneChangeSet["skipped"]): string {
  return skipped
    .map(({ path, reason }) => `cannot be undone: ${terminalSafe(path)} (${skipReasons[reason]})\n`)
    .join("");
}

/** What was restored, or would be, and what was left as it is. */
export function describeRestored({ files, skipped }: Restored, options: { readonly dryRun: boolean }): string {
  const words = options.dryRun ? futures : verbs;
  const lines = [
    ...files.map(({ path, operation }) => `${words[operation]} ${terminalSafe(path)}\n`),
    ...skipped.map(leftLine),
  ];
  return lines.length === 0 ? "Nothing to undo: all files are as they were then.\n" : lines.join("");
}

function leftLine({ path, reason }: Restored["skipped"][number]): string {
  return `left as it is: ${terminalSafe(path)} (${skipReasons[reason]})\n`;
}

/** Files as one types them in a shell; only the first ones if there are many. */
export function describeNames(paths: readonly string[]): string {
  const typed = paths.slice(0, maxTyped).map((path) => shellWords([terminalSafe(path)]));
  const isLikeOption = paths.some((path) => path.startsWith("-"));
  return [...(isLikeOption ? ["--"] : []), ...typed, ...(paths.length > maxTyped ? ["…"] : [])].join(" ");
}

const maxTyped = 20;

/** What is to be said of an undo besides its files. */
export function describeBesides(undone: UndoneChangeSet): string {
  return undone.files.length === 0 ? describeUndone(undone) : describeParts({ ...undone, files: [] });
}

/** A change set that was taken back. */
export function describeUndone(undone: UndoneChangeSet): string {
  return describeParts(undone) || "Undone: only directories had changed.\n";
}

function describeParts({ files, skipped, refs }: UndoneChangeSet): string {
  const done = files.map(({ path, operation }) => `${verbs[operation]} ${terminalSafe(path)}\n`);
  const moved = refs.map((name) => `moved back ${terminalSafe(name)}\n`);
  return [...done, ...moved, ...skipped.map(leftLine)].join("");
}
