/** One word of a shell, whatever is in it. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** For the shell: these words, whatever is in them. */
export function quotedCommand(words: readonly string[]): string {
  return words.map(quoted).join(" ");
}

/** The same, quoted only where they must be. */
export function shellWords(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoted(word))).join(" ");
}
