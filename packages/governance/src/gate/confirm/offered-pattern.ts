import type { OfferedPattern } from "@gennai/protocol/model/governance/question";
import { quotedWords } from "../../command/words/plain-words.ts";
import type { ActionFacts } from "./action-facts.ts";
import { type AnswerPattern, covers, hasPath, hasWords } from "./answer-pattern.ts";
import type { OperandClass } from "./variable-operands.ts";

const maxShown = 5;

/** A pattern as it is shown, run dry against what the session did so far and against examples made from it. */
export function offeredPattern(pattern: AnswerPattern, earlier: readonly ActionFacts[]): OfferedPattern {
  const asked = earlier.filter((facts) => covers(pattern, facts, pattern.place));
  const { yes, no } = examples(pattern);
  return {
    id: pattern.id,
    text: pattern.text,
    rule: pattern.rules.join(", "),
    matchedBefore: [...new Set(asked.map(({ statement }) => statement))].slice(-maxShown),
    wouldMatch: yes.slice(0, maxShown),
    wouldNotMatch: no.slice(0, maxShown),
  };
}

/** Made by changing the pattern's own words, and told apart by the very check that holds later. */
function examples(pattern: AnswerPattern): { readonly yes: readonly string[]; readonly no: readonly string[] } {
  const { form, tool } = pattern;
  if (form.type === "file") {
    const { directory, extension } = form.files;
    const inside = directory === "" ? "" : `${directory}/`;
    const paths = [
      `${inside}other${extension}`,
      `${inside}below/other${extension}`,
      `elsewhere/other${extension}`,
      `${inside}other.other`,
    ];
    return parted(
      paths,
      (path) => hasPath(form, path),
      (path) => `${tool} ${path}`,
    );
  }
  const other = quotedWords(form.words.map((word) => ("exactly" in word ? word.exactly : sample(word.any))));
  const [program = "", ...rest] = other.split(" ");
  const elsewhere = quotedWords(
    form.words.map((word) => {
      if ("exactly" in word) return word.exactly;
      return word.any.type === "files" ? "elsewhere/other.other" : sample(word.any);
    }),
  );
  const commands = [
    other,
    elsewhere,
    [program, "--option", ...rest].join(" "),
    `${other} && ${program}`,
    `${other} > file`,
    `${other} $(command)`,
    `sudo ${other}`,
  ].filter((command, index, all) => all.indexOf(command) === index);
  return parted(
    commands,
    (command) => hasWords(form, command),
    (command) => command,
  );
}

function sample(any: OperandClass): string {
  switch (any.type) {
    case "files":
      return `${any.directory === "" ? "" : `${any.directory}/`}other${any.extension}`;
    case "name":
      return `${any.prefix}other`;
    case "text":
      return "other words";
  }
}

function parted(
  all: readonly string[],
  matches: (text: string) => boolean,
  describe: (text: string) => string,
): { readonly yes: readonly string[]; readonly no: readonly string[] } {
  return { yes: all.filter(matches).map(describe), no: all.filter((text) => !matches(text)).map(describe) };
}
