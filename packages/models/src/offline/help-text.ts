import { forms } from "./parse-request.ts";

/** The answer to `help`. */
export function helpText(): string {
  return helpAfter("I am the offline assistant built into Gennai: no language model, just a small set of requests.");
}

/**
 * What is said when a request is not in the language.
 * @param clause the part that made no sense
 * @param usage how to put it
 */
export function notUnderstoodText(clause: string, usage: string | undefined): string {
  const line = clause.replaceAll(/\s+/g, " ");
  const short = line.length > 80 ? `${line.slice(0, 79)}…` : line;
  const opening = `I am the offline assistant built into Gennai, and I do not understand “${short}”.`;
  return helpAfter(`${opening}${usage === undefined ? "" : ` Write: ${usage}.`} I did nothing.`);
}

function helpAfter(opening: string): string {
  return `${opening}

I understand these, in any letter case, several joined by \`then\`:
${[...forms.values()].map(({ usage }) => `- ${usage}`).join("\n")}
- help

Put a text that holds one of the small words (with, in, to, then) into quotes: "…", '…' or \`…\`.

For everything else, choose a language model: in an editor and in the browser by the button below the prompt, elsewhere by the
options \`--backend\`, \`--model\` and \`--base-url\`.`;
}
