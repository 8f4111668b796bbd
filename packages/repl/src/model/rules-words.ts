/** A server's words about its rules without the picture before them: many machines have no font for it. */
export function rulesWords(text: string): string {
  return text.replace(/^[\p{Extended_Pictographic}\uFE0F\u200D\s]+/u, "");
}
