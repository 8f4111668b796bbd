/** A text without what readers do not see, with the original position of each character. */
export interface LooseText {
  readonly text: string;
  /** Ascending. */
  readonly lines: readonly LooseLine[];
}

interface LooseLine {
  /** Offsets of its first character, in the loose text and in the original. */
  readonly at: number;
  readonly start: number;
  /** For each UTF-16 code unit, and for the end, the offset from `start`; undefined if all characters stayed the same. */
  readonly starts: readonly number[] | undefined;
}

/**
 * Leaves out white space at the ends of lines; with `lookAlikes`, also makes characters equal that look the same: quotes, dashes,
 * spaces, and composed and decomposed letters. The number of lines stays.
 */
export function looseText(original: string, options: { readonly lookAlikes: boolean }): LooseText {
  const pieces: string[] = [];
  const lines: LooseLine[] = [];
  let at = 0;
  let start = 0;
  for (;;) {
    const lineFeed = original.indexOf("\n", start);
    const line = original.slice(start, lineFeed === -1 ? undefined : lineFeed).trimEnd();
    const plain = options.lookAlikes && hasLookAlikes(line) ? plainLine(line) : { text: line, starts: undefined };
    pieces.push(plain.text);
    lines.push({ at, start, starts: plain.starts });
    if (lineFeed === -1) return { text: pieces.join("\n"), lines };
    at += plain.text.length + 1;
    start = lineFeed + 1;
  }
}

/** Where a UTF-16 code unit of `text`, or its end, begins in the original. What was left out belongs to what follows it. */
export function originalOffset(loose: LooseText, offset: number): number {
  const { at, start, starts } = lineAt(loose.lines, offset);
  return start + (starts === undefined ? offset - at : (starts[offset - at] ?? 0));
}

/** True if the original can be cut at this offset of `text`, which is not so within a character that became several. */
export function isBorder(loose: LooseText, offset: number): boolean {
  return offset === 0 || originalOffset(loose, offset) !== originalOffset(loose, offset - 1);
}

/** True if making look-alikes equal may change the text. */
export function hasLookAlikes(text: string): boolean {
  return /[\u0080-\uFFFF]/.test(text);
}

function lineAt(lines: readonly LooseLine[], offset: number): LooseLine {
  let [low, high] = [0, lines.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((lines[middle]?.at ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return lines[low] ?? { at: 0, start: 0, starts: undefined };
}

/** ASCII, but for a last letter that a mark may follow; a letter with its marks; Hangul syllables as up to three letters. */
const character = /\p{ASCII}+(?!\P{ASCII})|[\u1100-\u1112][\u1161-\u1175][\u11A8-\u11C2]?|\P{M}\p{M}*|\p{M}+/gu;
const lookAlikes: readonly (readonly [RegExp, string])[] = [
  [/[\u2018-\u201B\u2032\u02BC\uFF07]/gu, "'"],
  [/[\u201C-\u201F\u2033\uFF02]/gu, '"'],
  [/[\u2010-\u2015\u2212\uFE58\uFE63\uFF0D]/gu, "-"],
  [/[\u00A0\u2000-\u200A\u202F\u205F\u3000]/gu, " "],
];

function plainLine(line: string): { readonly text: string; readonly starts: readonly number[] } {
  let text = "";
  const starts: number[] = [];
  for (const match of line.matchAll(character)) {
    const [written] = match;
    if (!hasLookAlikes(written)) {
      for (let at = 0; at < written.length; at += 1) starts.push(match.index + at);
      text += written;
      continue;
    }
    let plain = written.normalize("NFC");
    for (const [those, one] of lookAlikes) plain = plain.replace(those, one);
    for (let at = 0; at < plain.length; at += 1) starts.push(match.index);
    text += plain;
  }
  starts.push(line.length);
  return { text, starts };
}
