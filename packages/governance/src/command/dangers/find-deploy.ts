import type { CommandAnalysis, SimpleCommand } from "../../command-analysis.ts";
import { isScriptRunner } from "../../programs/interpreters.ts";
import { programNamed, verbOf } from "../../programs/known-programs.ts";
import { foldName } from "../words/fold-name.ts";

type Words = readonly (string | undefined)[];

/** Words that mark a script or tool as one that deploys. */
const deployWord =
  /^(?:deploy(?:s|er|ment|ments)?|undeploy|redeploy|publish(?:er)?|release(?:s|r)?|rollout|rollback|promote|ship(?:it)?)$/;

/**
 * How a command publishes or deploys, e.g. `npm publish`; undefined if nothing in it does. Errs on the strict side: an unknown
 * word in the place of the verb counts as the verb.
 */
export function findDeploy(command: CommandAnalysis): string | undefined {
  if (command.readsOnly) return undefined;
  for (const simple of command.commands) {
    const found = inCommand(simple);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** True for a tool, e.g. one of an MCP server, whose name says that it deploys. */
export function isDeployTool(toolName: string): boolean {
  return wordsOfName(toolName).some((word) => deployWord.test(word));
}

function inCommand({ name, words: given, wrappers }: SimpleCommand): string | undefined {
  const program = programOf(name);
  // The input may supply the verb.
  const words = wrappers.some((wrapper) => wrapper === "xargs" || wrapper === "parallel")
    ? [...given, undefined]
    : given;
  return (
    deploys(program, words) ?? namedScript(program, words) ?? pushed(program, words) ?? startedByWords(program, words)
  );
}

/** Base name without the endings of Windows and without a version or scope, as `npx -y vercel@latest` has it. */
export function programOf(word: string): string {
  const folded = foldName(word.slice(word.search(/[^/\\]*$/)));
  return folded.replace(/\.(?:exe|cmd|bat|ps1|cjs|mjs|js)$/, "").replace(/(?<=.)@.*$/, "");
}

/** How a program publishes or deploys by these words (undefined: not known), e.g. `npm publish`. */
export function deploys(
  program: string,
  words: Words,
  options: { readonly bare: boolean } = { bare: true },
): string | undefined {
  const known = programNamed(program);
  if (known === undefined || known.deploys?.target !== undefined) return undefined;
  const { anyOperand, unless, option, verb, bare } = known.deploys ?? {};
  const isVerb = (word: string) => verb?.test(word) === true || verbOf(program, [word])?.verb.deploys === true;
  const found = (word: string) => `${program} ${word}`.trim();
  const given = words.find((word) => word !== undefined && option?.test(word) === true);
  if (given !== undefined) return found(given);
  const operands = operandsOf(words);
  if (anyOperand !== undefined) {
    for (const [index, { word }] of operands.slice(0, 6).entries()) {
      if (word === undefined) {
        if (index < 2) return found(unknownWords);
        continue;
      }
      const next = operands[index + 1]?.word;
      // In a goal, a name stands behind each `:`.
      if (
        [foldName(word), word].some((one) => anyOperand.test(one)) &&
        !(next !== undefined && unless?.test(next) === true)
      )
        return found(word);
    }
  }
  if (verb !== undefined || Object.values(known.verbs ?? {}).some(({ deploys: does }) => does === true)) {
    for (const { word, certain } of operands) {
      if (word === undefined) return found(unknownWords);
      if (isVerb(foldName(word))) return found(word);
      if (certain) break;
    }
  }
  const isBare = options.bare && bare === true && operands.length === 0;
  return isBare && !words.some((word) => informs.test(word ?? "")) ? program : undefined;
}

const unknownWords = "with words that are not known";
const informs = /^(?:--?v(?:ersion)?|-V|--?h(?:elp)?)$/;

/** Words that are no options. One behind an option may be its value, so it is not certain to be the verb. */
function operandsOf(words: Words): readonly { readonly word: string | undefined; readonly certain: boolean }[] {
  return words.flatMap((word, index) => {
    if (word?.startsWith("-") === true) return [];
    const before = index === 0 ? undefined : words[index - 1];
    return [{ word, certain: word !== undefined && (before === undefined || !/^-[^=]*$/.test(before)) }];
  });
}

/** A script, task or target of the project whose name says that it deploys. */
function namedScript(program: string, words: Words): string | undefined {
  if (isDeployTool(program) && programNamed(program)?.deploys === undefined) return program;
  if (programNamed(program)?.tasks === undefined && !isScriptRunner(program)) return undefined;
  const script = operandsOf(words)
    .slice(0, 3)
    .find(({ word }) => word !== undefined && !word.includes(" ") && isDeployTool(word.slice(word.search(/[^/\\]*$/))));
  return script && `${program} ${script.word ?? ""}`;
}

function pushed(program: string, words: Words): string | undefined {
  const { verb, target } = programNamed(program)?.deploys ?? {};
  const pushes = target && words.find((word) => word !== undefined && verb?.test(word) === true);
  const remote = pushes && words.find((word) => word !== undefined && target.test(word));
  return remote && `${program} ${pushes} ${remote}`;
}

/** A deploying program among another one's words: on demand (`npx vercel`), behind a wrapper, or inside code. */
function startedByWords(program: string, words: Words): string | undefined {
  const runs = programNamed(program)?.starts === true;
  for (const [index, word] of words.entries()) {
    if (word === undefined || word.startsWith("-")) continue;
    if (/\s/.test(word)) {
      const found = runs || isScriptRunner(program) ? inText(word) : undefined;
      if (found !== undefined) return found;
    } else {
      // A package that is only named, as in `npm install vercel`, does not run.
      const found = deploys(programOf(word), words.slice(index + 1), { bare: runs && !installs(words) });
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function installs(words: Words): boolean {
  return words.some(
    (word) =>
      word !== undefined &&
      /^(?:i|in|ins|inst|install|ci|add|remove|rm|uninstall|update|up|upgrade|view|info|why|ls|list)$/.test(word),
  );
}

/** Code or a script in one word: adjacent words in it may be a program and its arguments. */
function inText(text: string): string | undefined {
  const tokens = text.split(/[^\w@./:=-]+/).filter((token) => token !== "");
  for (const [index, token] of tokens.entries()) {
    const found = deploys(programOf(token), tokens.slice(index + 1, index + 8), { bare: false });
    if (found !== undefined) return found;
  }
  return undefined;
}

function wordsOfName(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .split(/[^A-Za-z\d]+/)
    .map((word) => word.toLowerCase());
}
