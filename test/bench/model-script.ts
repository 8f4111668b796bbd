/** One answer of the scripted model. */
export type ScriptedAnswer =
  | { readonly type: "calls"; readonly calls: readonly ScriptedCall[] }
  | { readonly type: "text"; readonly text: string }
  /** Many small pieces of text, as fast as the reader takes them. */
  | { readonly type: "flood"; readonly deltas: number }
  /** Pieces that carry the time they were sent, so that a reader can tell the lag. */
  | { readonly type: "paced"; readonly deltas: number; readonly perSecond: number };

export interface ScriptedCall {
  readonly name: "Read" | "Edit" | "Bash";
  readonly arguments: Readonly<Record<string, string | number>>;
}

/** Piece of text that the flood repeats. */
export const floodPiece = "lorem ipsum ";

/** Nanoseconds on the clock that all processes of a machine share. */
export const sentTime = /(\d+);/g;

export const smallFile = "src/small.ts";
export const largeFile = "src/large.ts";
export const largeFileLines = 5000;
const editedLine = 2500;

/** Files that are read one after the other, and from the first again behind the last. */
export const readFiles = 200;

export function readFile(index: number): string {
  return `src/read-${(index % readFiles) + 1}.ts`;
}

export function partFile(number: number): string {
  return `src/part-${number}.ts`;
}

export function lineOfLargeFile(number: number, edits = 0): string {
  return `export const line${number} = "a line like many others ${edits}";`;
}

/**
 * What the model answers to its `index`-th request (from 0) of a turn; the answer after the last call ends the turn.
 *
 * @param script name and number, e.g. `read-200`: 200 answers with one Read each; see `pauseOf` for a third part
 */
export function answerOf(script: string, index: number): ScriptedAnswer {
  const [kind, count = "0"] = script.split("-");
  const total = Number(count);
  if (kind === "flood") return { type: "flood", deltas: total };
  if (kind === "paced") return { type: "paced", deltas: total, perSecond: 200 };
  if (index >= total) return { type: "text", text: "Done." };
  switch (kind) {
    case "read":
      // Another file each time: what is remembered of one read helps no other.
      return { type: "calls", calls: [read(readFile(index), 1_000 + index)] };
    case "reads":
      return { type: "calls", calls: [1, 2, 3, 4, 5, 6, 7, 8].map((number) => read(partFile(number), 1_000 + index)) };
    case "shell":
      return {
        type: "calls",
        calls: [{ name: "Bash", arguments: { command: `head -n ${1_000 + index} ${smallFile}` } }],
      };
    case "write":
      // Twice the same would be stopped as a loop.
      return { type: "calls", calls: [{ name: "Bash", arguments: { command: `echo ${index} >> written.txt` } }] };
    case "edit":
      // An edit needs to have seen the file.
      return { type: "calls", calls: [index === 0 ? { ...read(largeFile, 10) } : edit(index)] };
    default:
      throw new RangeError(`There is no script ${script}.`);
  }
}

/** Milliseconds the model takes for an answer: the last part of `shell-40-50`; 0 without one. */
export function pauseOf(script: string): number {
  return Number(script.split("-")[2] ?? 0);
}

function read(path: string, limit?: number): ScriptedCall {
  return { name: "Read", arguments: { file_path: path, ...(limit === undefined ? {} : { limit }) } };
}

function edit(index: number): ScriptedCall {
  return {
    name: "Edit",
    arguments: {
      file_path: largeFile,
      old_string: lineOfLargeFile(editedLine, index - 1),
      new_string: lineOfLargeFile(editedLine, index),
    },
  };
}
