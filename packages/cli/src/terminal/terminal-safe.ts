import { hiddenCharacters } from "@gennai/protocol/hidden-characters";

/**
 * Text from a model or a file, harmless on a terminal: hidden characters go, so that nothing moves the cursor, sets the title,
 * answers for the user, or shows text in another order than it runs.
 */
export function terminalSafe(text: string): string {
  return text.replace(hiddenCharacters, "");
}

/**
 * One line of JSON, equal to the output of `JSON.stringify`, with these characters escaped because it may be shown in a
 * terminal. So is `##[`, which pipeline runners take for a command anywhere in a line.
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
