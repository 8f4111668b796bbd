/** For the shell: these words, whatever is in them. */
export function quotedCommand(words: readonly string[]): string {
  return words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ");
}
