/**
 * Lines of a text, counted by `\n` as in hunks, for a document in which they are edited. undefined if VS Code would change more
 * than the user types: it gives all lines of a document the same ending, and takes a lone carriage return as one.
 * @param range 1-based; the line before when `count` is 0
 */
export function hunkText(
  text: string,
  { start, count }: { readonly start: number; readonly count: number },
): string | undefined {
  const first = count === 0 ? start : start - 1;
  const lines = text.replace(/^\uFEFF/, "").match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const part = lines.slice(first, first + count).join("");
  return staysAsItIs(part) ? part : undefined;
}

function staysAsItIs(text: string): boolean {
  const isMixed = text.includes("\r\n") && /(?<!\r)\n/.test(text);
  return !isMixed && !/\r(?!\n)|\0/.test(text);
}
