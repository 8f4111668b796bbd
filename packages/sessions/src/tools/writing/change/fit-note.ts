import type { FittedEdit } from "./edit-text.ts";

/** Characters of a text that is shown again. */
const maxShown = 2000;

/** For a model whose old text the file has only nearly: in what they differ, where, and what stands there now. Empty without such edits. */
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
