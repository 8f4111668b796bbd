/** A text without what readers do not see, and where each of its characters comes from. */
export interface LooseText {
  readonly text: string;
  /** Ascending. */
  readonly lines: readonly LooseLine[];
}

interface LooseLine {
  /** Offsets of its first character, in the loose text and in the original. */
  readonly at: number;
  readonly start: number;
  /** Of each UTF-16 code unit and of its end, the offset from `start`; undefined where none became another. */
  readonly starts: readonly number[] | undefined;
}

/**
 * White space at the ends of lines is left out; with `lookAlikes`, characters that look the same become one: quotes, dashes,
 * spaces, and composed and decomposed letters. Lines stay lines.
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

/** Whether the original can be cut at this offset of `text`: not within what became several characters. */
export function isBorder(loose: LooseText, offset: number): boolean {
  return offset === 0 || originalOffset(loose, offset) !== originalOffset(loose, offset - 1);
}

/** Whether a text may have other words once its look-alikes are one. */
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

/** ASCII but for its last letter, which a mark may follow; a letter with its marks; Hangul syllables are written as up to three letters. */
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
