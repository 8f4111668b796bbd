// `npm run messages`: every sentence that the program says, with its place. With --check only those that are too long.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { helpIfAsked } from "./lib/command-line.mjs";
import { root } from "./lib/repository.mjs";

/** Most words of a sentence; what a value fills in counts as one. */
const mostWords = 20;
/** Texts for models, and what is made from other sources. */
const notForPeople = /\/gen\/|^packages\/agent\/src\/(?:prompt|scenarios)\//;

const usage = `npm run messages [-- TEXT]   every sentence that the program says, with its place; only those with TEXT in them

With --check: those of more than ${mostWords} words. Ends with 1 when there is one.
`;
helpIfAsked(usage, process.argv.slice(2));
const [wanted = ""] = process.argv.slice(2);
const isCheck = wanted === "--check";

let count = 0;
for (const file of globSync("packages/*/src/**/*.{ts,tsx}", { cwd: root }).toSorted()) {
  if (notForPeople.test(file)) continue;
  for (const { line, text } of sentencesOf(readFileSync(join(root, file), "utf8"))) {
    const words = text.split(/\s+/).length;
    if (isCheck ? words <= mostWords : !text.includes(wanted)) continue;
    count += 1;
    process.stdout.write(`${file}:${line}  ${isCheck ? `${words} words: ` : ""}${text}\n`);
  }
}
if (!isCheck) process.stdout.write(`${count} sentences\n`);
else if (count > 0) {
  process.stdout.write(`Say it in at most ${mostWords} words: subject, verb, reason; or in two sentences.\n`);
  process.exitCode = 1;
}

/**
 * Sentences in strings: with a capital, a full stop or question mark, and a space. Values that are filled in are `…`.
 * @param {string} source @returns {{ line: number, text: string }[]}
 */
function sentencesOf(source) {
  const code = source.replace(/\/\*[^]*?\*\//g, blank).replace(/(?<=^|\s)\/\/.*$/gm, blank);
  return [...code.matchAll(/"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g)].flatMap((match) => {
    const text = (match[1] ?? match[2] ?? "").replace(/\$\{(?:[^{}]|\{[^}]*\})*\}/g, "…").replaceAll(/\\n|\n/g, " ");
    if (!/^[A-Z…].* .*[.?]$/s.test(text) || /^[A-Z]{3,} /.test(text)) return [];
    const line = source.slice(0, match.index).split("\n").length;
    return text.split(/(?<=[.?!]) +/).map((sentence) => ({ line, text: sentence.trim() }));
  });
}

/** @param {string} comment */
function blank(comment) {
  return comment.replaceAll(/[^\n]/g, " ");
}
