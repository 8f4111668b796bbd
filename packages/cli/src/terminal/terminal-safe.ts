import { hiddenCharacters } from "@gennai/protocol/hidden-characters";

/**
 * Makes text of a model or a file harmless on a terminal: without hidden characters, nothing moves the cursor, sets the title,
 * answers for the user, or shows text in another order than it runs.
 */
export function terminalSafe(text: string): string {
  return text.replace(hiddenCharacters, "");
}

/**
 * One line of JSON, equal in value to the output of `JSON.stringify`, with hidden characters escaped because a terminal may show
 * it. `##[` is escaped, too, since pipeline runners take it as a command anywhere in a line.
 */
export function jsonLine(value: unknown): string {
  const line = JSON.stringify(value).replace(hiddenCharacters, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
  return line.replaceAll("##[", "##\\u005b");
}
