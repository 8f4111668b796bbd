const language = `- replace A with B in GLOB (or: rename A to B in GLOB)
- rename file A to B, move A to B
- create FILE with TEXT (or the text below in a fenced block)
- append TEXT to FILE
- delete FILE
- find TEXT, find TEXT in GLOB
- show FILE, list, list DIR
- run COMMAND, run COMMAND in the terminal
- add todo TEXT, show todos
- use intent ID then …, or: under ID: …
- request scope for PATHS because REASON
- remember LESSON
- say TEXT
- help`;

/** The answer to `help`. */
export function helpText(): string {
  return helpAfter("I am the offline assistant built into Gennai: no language model, just a small set of requests.");
}

/**
 * What is said when a request is not in the language.
 * @param clause the part that made no sense
 * @param advice how to put it, in a sentence
 */
export function notUnderstoodText(clause: string, advice: string | undefined): string {
  const opening = `I am the offline assistant built into Gennai, and I do not understand “${shorten(clause)}”.`;
  return helpAfter(`${opening}${advice === undefined ? "" : ` ${advice}`} I did nothing.`);
}

function helpAfter(opening: string): string {
  return `${opening}

I understand these, in any letter case, several joined by \`then\`:
${language}

Put a text that holds one of the small words (with, in, to, then) into quotes: "…", '…' or \`…\`.

For everything else, choose a language model: in an editor and in the browser by the button below the prompt, elsewhere by the
options \`--backend\`, \`--model\` and \`--base-url\`.`;
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
