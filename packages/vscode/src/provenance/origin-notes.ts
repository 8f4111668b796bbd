import { decisionWords, shortWriterWords, unknownWords } from "@gennai/client/origin-words";
import { hiddenCharacters } from "@gennai/protocol/hidden-characters";
import type { LineTrace, TracedOrigin } from "@gennai/protocol/model/governance/line-trace";

/** The text after a line, and its bar in the gutter. */
export interface OriginNote {
  /** 0-based, both included. */
  readonly first: number;
  readonly last: number;
  /** A number gives neighbours different colours; the words have colours of their own, unknown lines have none. */
  readonly bar: 0 | 1 | 2 | 3 | "failed" | "unsure" | "untrusted" | undefined;
  /** Shown after the first line; empty for lines without a record. */
  readonly text: string;
}

/** Most characters of a note. */
const longest = 120;

/** Notes for a text, one for consecutive lines of the same write, however matched. @param lineCount lines of the document */
export function originNotes({ trust, runs }: LineTrace, lineCount: number): readonly OriginNote[] {
  const notes: OriginNote[] = [];
  let before: TracedOrigin | undefined;
  for (const { firstLine, lineCount: count, origin } of runs) {
    const [first, last] = [firstLine - 1, Math.min(lineCount, firstLine + count - 1) - 1];
    if (last < first) continue;
    const bar = trust.status === "ok" ? barOf(origin) : "untrusted";
    const previous = notes.at(-1);
    if (previous !== undefined && before !== undefined && isSameWrite(before, origin)) {
      notes[notes.length - 1] = { ...previous, last };
    } else notes.push({ first, last, bar: textOf(origin) === "" ? undefined : bar, text: textOf(origin) });
    before = origin;
  }
  return notes;
}

function isSameWrite(one: TracedOrigin, other: TracedOrigin): boolean {
  if (one.type === "recorded") return other.type === "recorded" && one.write === other.write;
  return other.type === "unknown" && textOf(one) === textOf(other);
}

function barOf(origin: TracedOrigin): OriginNote["bar"] {
  if (origin.type === "unknown") return origin.reason === "ambiguous" ? "unsure" : undefined;
  if (origin.write.verification === "failed") return "failed";
  const colours = [0, 1, 2, 3] as const;
  return colours[origin.write.seq % colours.length];
}

const checkWords = {
  verified: [],
  unverified: ["not verified"],
  failed: ["check failed"],
  untold: ["check not told"],
} as const;

function textOf(origin: TracedOrigin): string {
  if (origin.type === "unknown") return origin.reason === "ambiguous" ? `? ${unknownWords.ambiguous}` : "";
  const { write } = origin;
  const words = [
    `#${write.seq} ${shortWriterWords(write)}`,
    ...(write.intent === undefined ? [] : [write.intent]),
    decisionWords(write.decision),
    ...checkWords[write.verification],
  ].join(" · ");
  const shown = words.replace(hiddenCharacters, "");
  return shown.length > longest ? `${shown.slice(0, longest - 1)}…` : shown;
}
