import type { FittedEdit } from "./edit-text.ts";

/** Maximum characters of a text that is quoted. */
const maxShown = 2000;

/**
 * Tells the model where its old text matched inexactly: how they differ, where, and the current text. Empty without such edits.
 */
export function fitNote(fitted: readonly FittedEdit[]): string {
  return fitted
    .map(({ differing, firstLine, lastLine, newText }) => {
      const lines = firstLine === lastLine ? `line ${firstLine}` : `lines ${firstLine}-${lastLine}`;
      const found = `old_string fits ${lines} but for ${differing}`;
      if (newText === "") return `${found}; the file's own text was taken away.`;
      return `${found}; the text there now:\n${shown(newText)}`;
    })
    .join("\n");
}

function shown(text: string): string {
  const plain = text.endsWith("\n") ? text.slice(0, -1) : text;
  return plain.length <= maxShown ? plain : `${plain.slice(0, maxShown).toWellFormed()}…`;
}
