/** What a line of an old ledger belongs to. */
export type LaidOut<Line> =
  /** Part of an incomplete record. */
  | { readonly type: "held" }
  /** The last line of a record, or of a list of records, that covers several lines. */
  | { readonly type: "whole"; readonly first: Line; readonly records: readonly object[] }
  /** No such record: the lines are independent. */
  | { readonly type: "apart"; readonly lines: readonly Line[] };

/** Longer than this, in characters, no record is put together. */
const maxLength = 4 * 1024 * 1024;

/**
 * Joins records that cover several lines, as in the first format of the ledger. A line that begins like a complete record of
 * ours is never taken for a part of one.
 */
export class LaidOutRecords<Line> {
  #held: Line[] = [];
  #text = "";
  #depth = 0;

  /** @param text of the line, without its line break */
  take(line: Line, text: string): LaidOut<Line> {
    const isBeginning = /^[{[]\s*$/.test(text);
    if (this.#held.length === 0 && !isBeginning) return { type: "apart", lines: [line] };
    if (text.startsWith('{"') || this.#text.length + text.length > maxLength) {
      return { type: "apart", lines: [...this.end(), line] };
    }
    this.#held.push(line);
    this.#text += `${text}\n`;
    this.#depth += depthOf(text);
    if (this.#depth > 0) return { type: "held" };
    const records = objectsIn(this.#text);
    const held = this.end();
    const [first] = held;
    return records === undefined || first === undefined
      ? { type: "apart", lines: held }
      : { type: "whole", first, records };
  }

  /** Held lines that did not form a record. */
  end(): readonly Line[] {
    const held = this.#held;
    this.#held = [];
    this.#text = "";
    this.#depth = 0;
    return held;
  }
}

/** The records of a ledger's text, one per line: those that cover several lines are joined. Without blank lines. */
export function recordLines(text: string): readonly string[] {
  const laidOut = new LaidOutRecords<string>();
  const lines = text.split("\n").flatMap((line): readonly string[] => {
    const taken = laidOut.take(line, line);
    if (taken.type === "held") return [];
    return taken.type === "apart" ? taken.lines : taken.records.map((record) => JSON.stringify(record));
  });
  return [...lines, ...laidOut.end()].filter((line) => line.trim() !== "");
}

/** Number of records in a ledger's text that cover several lines. */
export function countLaidOut(text: string): number {
  const laidOut = new LaidOutRecords<string>();
  let count = 0;
  for (const line of text.split("\n")) {
    const taken = laidOut.take(line, line);
    if (taken.type === "whole") count += taken.records.length;
  }
  return count;
}

/** By how much braces and brackets outside of strings open more than they close. A string of JSON ends on its line. */
function depthOf(text: string): number {
  const bare = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, "");
  return [...bare].reduce((depth, each) => depth + (/[{[]/.test(each) ? 1 : /[}\]]/.test(each) ? -1 : 0), 0);
}

function objectsIn(text: string): readonly object[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const found: readonly unknown[] = Array.isArray(value) ? value : [value];
    const records = found.filter((each): each is object => {
      return typeof each === "object" && each !== null && !Array.isArray(each);
    });
    return records.length === found.length && records.length > 0 ? records : undefined;
  } catch {
    return undefined;
  }
}
