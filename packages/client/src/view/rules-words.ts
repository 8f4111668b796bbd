/** A server's text about its rules without the emoji before it: many machines have no font for it. */
export function rulesWords(text: string): string {
  return text.replace(/^[\p{Extended_Pictographic}\uFE0F\u200D\s]+/u, "");
}
