import type { CommandAnalysis, SimpleCommand } from "../command/command-analysis.ts";
import { foldName } from "../command/fold-name.ts";
import {
  type DeployRule,
  deployRemote,
  deployRules,
  deployWord,
  interpreters,
  programRunners,
  taskRunners,
} from "./deploy-programs.ts";

type Words = readonly (string | undefined)[];

const rulesByProgram = Map.groupBy(
  deployRules.flatMap((rule) => rule.programs.map((program) => ({ program, rule }))),
  ({ program }) => program,
);

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
  for (const { rule } of rulesByProgram.get(program) ?? []) {
    const found = byRule(rule, words, options);
    if (found !== undefined) return `${program} ${found}`.trim();
  }
  return undefined;
}

function byRule(rule: DeployRule, words: Words, { bare }: { readonly bare: boolean }): string | undefined {
  const option = words.find((word) => word !== undefined && rule.option?.test(word) === true);
  if (option !== undefined) return option;
  const operands = operandsOf(words);
  if (rule.anyOperand !== undefined) {
    for (const [index, { word }] of operands.slice(0, 6).entries()) {
      if (word === undefined) {
        if (index < 2) return unknownWords;
        continue;
      }
      const next = operands[index + 1]?.word;
      if (rule.anyOperand.test(foldName(word)) && !(next !== undefined && rule.unless?.test(next) === true))
        return word;
    }
  }
  if (rule.verb !== undefined) {
    for (const { word, certain } of operands) {
      if (word === undefined) return unknownWords;
      if (rule.verb.test(foldName(word))) return word;
      if (certain) break;
    }
  }
  return bare && rule.bare === true && operands.length === 0 && !words.some((word) => informs.test(word ?? ""))
    ? ""
    : undefined;
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
  if (isDeployTool(program) && !rulesByProgram.has(program)) return program;
  if (!taskRunners.has(program) && !interpreters.test(program)) return undefined;
  const script = operandsOf(words)
    .slice(0, 3)
    .find(({ word }) => word !== undefined && !word.includes(" ") && isDeployTool(word.slice(word.search(/[^/\\]*$/))));
  return script && `${program} ${script.word ?? ""}`;
}

function pushed(program: string, words: Words): string | undefined {
  if (program !== "git" || !words.includes("push")) return undefined;
  const remote = words.find((word) => word !== undefined && deployRemote.test(word));
  return remote && `git push ${remote}`;
}

/** A deploying program among another one's words: on demand (`npx vercel`), behind a wrapper, or inside code. */
function startedByWords(program: string, words: Words): string | undefined {
  const runs = programRunners.has(program);
  for (const [index, word] of words.entries()) {
    if (word === undefined || word.startsWith("-")) continue;
    if (/\s/.test(word)) {
      const found = runs || interpreters.test(program) ? inText(word) : undefined;
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
