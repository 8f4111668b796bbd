import { hasNumberedLines } from "./without-line-numbers.ts";

/** Advice for a text that was not found: where similar text is, and how it differs. */
export function nearestMatch(text: string, wanted: string): string {
  const wantedLines = wanted.split("\n");
  if (hasNumberedLines(wanted) && !hasNumberedLines(text)) {
    return "Leave out the line numbers and tabs that Read puts in front of lines.";
  }
  const lines = text.split("\n");
  const start = likeliestStart(lines, wantedLines);
  if (start === undefined) return "Nothing in the file looks like it. Read the file again and copy the text exactly.";
  for (const [index, line] of wantedLines.entries()) {
    const found = lines[start + index];
    const fits =
      found !== undefined &&
      (index === 0 ? found.endsWith(line) : index === wantedLines.length - 1 ? found.startsWith(line) : found === line);
    if (fits) continue;
    const place = `The nearest text begins at line ${start + 1}`;
    if (found === undefined) return `${place}, but the file ends before it does.`;
    const difference = squeezed(found) === squeezed(line) ? "differs only in white space" : "differs";
    return `${place}; line ${start + index + 1} ${difference}: the file has ${quoted(found)}, old_string has ${quoted(line)}.`;
  }
  return `The nearest text begins at line ${start + 1}. Read the file again and copy the text exactly.`;
}

/** Each wanted line votes for the start that fits its position; the start with most votes wins, then the first one. */
function likeliestStart(lines: readonly string[], wantedLines: readonly string[]): number | undefined {
  const offsets = new Map<string, number[]>();
  for (const [index, line] of wantedLines.entries()) {
    const key = squeezed(line);
    if (key === "") continue;
    const known = offsets.get(key);
    if (known === undefined) offsets.set(key, [index]);
    else if (known.length < 20) known.push(index);
  }
  const votes = new Map<number, number>();
  for (const [index, line] of lines.entries()) {
    for (const offset of offsets.get(squeezed(line)) ?? []) {
      if (index >= offset) votes.set(index - offset, (votes.get(index - offset) ?? 0) + 1);
    }
  }
  let best: number | undefined;
  let most = 0;
  for (const [start, count] of votes) {
    if (count > most || (count === most && best !== undefined && start < best)) {
      best = start;
      most = count;
    }
  }
  return best ?? lineWithMostWords(lines, wantedLines);
}

/** For one changed line: the line that has most words in common with the longest wanted one. */
function lineWithMostWords(lines: readonly string[], wantedLines: readonly string[]): number | undefined {
  let longest = 0;
  for (const [index, line] of wantedLines.entries())
    if (line.length > (wantedLines[longest]?.length ?? 0)) longest = index;
  const wanted = new Set(words(wantedLines[longest] ?? ""));
  let best: number | undefined;
  let most = wanted.size / 2;
  for (const [index, line] of lines.slice(0, 20_000).entries()) {
    if (index < longest || line.length > 1000) continue;
    const shared = new Set(words(line)).intersection(wanted).size;
    if (shared > most) {
      best = index - longest;
      most = shared;
    }
  }
  return best;
}

function words(line: string): readonly string[] {
  return line.match(/[\p{L}\p{N}_]+/gu) ?? [];
}

function squeezed(line: string): string {
  return line.replace(/\s+/g, " ").trim();
}

function quoted(line: string): string {
  return JSON.stringify(line.length > 160 ? `${line.slice(0, 160)}…` : line);
}
