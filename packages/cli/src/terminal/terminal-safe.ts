/**
 * Text from a model or a file, harmless on a terminal: control characters other than newline and tab go, so that nothing
 * moves the cursor, sets the title or answers for the user. Direction marks go as well: they show text in another order
 * than it runs.
 */
export function terminalSafe(text: string): string {
  return text.replace(unsafe, "");
}

/** The same for what a person approves: nothing is left out, every such character is spelt. */
export function spelledOut(text: string): string {
  return text.replace(unsafe, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
  });
}

/** One line of JSON, equal to what `JSON.stringify` gives, with these characters escaped: it may be read at a terminal. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(unsafe, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}

const unsafe =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;
