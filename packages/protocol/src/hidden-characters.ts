/**
 * Characters that are invisible, reorder the text around them, or control a terminal: controls except tab and line feed, format
 * and direction marks, zero width, fillers, variation selectors, tags, line separators, lone surrogates. The selector that
 * belongs to an emoji or a keycap is not hidden. Global: for `replace`, `matchAll` and `search`.
 */
export const hiddenCharacters =
  /(?![\t\n]|(?<=\p{Extended_Pictographic})\ufe0f|\ufe0f\u20e3)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

export function hidesSomething(text: string): boolean {
  return text.search(hiddenCharacters) >= 0;
}

/** The text with every hidden character spelt, such as `\u{202e}`: who approves it sees all of it. */
export function spelledOut(text: string): string {
  return text.replace(hiddenCharacters, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
