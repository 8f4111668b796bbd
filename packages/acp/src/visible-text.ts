/** Characters that are not seen, or that change what is seen around them; line ends and tabs are not among them. */
const hidden = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u{fe00}-\u{fe0f}\u{e0100}-\u{e01ef}]/gu;

/** A text whose hidden characters are spelt: a person who approves it sees all of it. */
export function visibleText(text: string): string {
  return text.replace(hidden, (character) => {
    if (character === "\n" || character === "\t") return character;
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}
