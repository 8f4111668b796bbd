/**
 * Lines of a text, by `\n` as hunks count them, for a document in which they are edited. undefined where VS Code would change more than
 * what is typed: it gives all lines of a document one ending, and takes a lone carriage return for one.
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
