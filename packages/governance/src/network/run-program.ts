import { plainWords } from "../command/words/plain-words.ts";
import type { CommandAnalysis } from "../command-analysis.ts";
import type { RunProgram } from "../connection.ts";
import { programNamed, verbOf } from "../programs/known-programs.ts";
import type { PlainWords } from "../programs/program.ts";

const maxName = 60;

/**
 * An answer may last for programs that run no code of the workspace when they use the network. Interpreters and scripts are none of
 * them, and neither are managers that load code of the workspace: what they do changes with the tree.
 *
 * @param place where it runs; the root of the workspace by default. Real paths
 */
export function runProgram(
  command: CommandAnalysis,
  place?: { readonly cwd: string; readonly workspaceRoot: string },
): RunProgram {
  const plain = plainWords(command.text);
  const [simple, ...others] = command.commands;
  if (plain === undefined || simple === undefined || others.length > 0 || simple.wrappers.length > 0) {
    return { name: shortened(command.text), lasting: false };
  }
  const [program = "", ...words] = plain;
  const [verb = ""] = words;
  const said = { name: shortened(verb.startsWith("-") ? program : `${program} ${verb}`), lasting: false };
  const known = programNamed(program);
  if (known?.plain === undefined || program !== simple.name) return said;
  if (known.verbs === undefined) return { name: program, lasting: isPlain(words, known.plain) };
  const found = verbOf(program, words);
  if (found?.verb.lasting === undefined || found.rest.length < words.length - 1) return said;
  const obeysDirectory = place?.cwd !== place?.workspaceRoot && found.verb.lasting === "at root";
  return { name: `${program} ${found.name}`, lasting: !obeysDirectory && isPlain(words.slice(1), known.plain) };
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > maxName ? `${line.slice(0, maxName - 1)}…` : line;
}

/** Whether all words are such that a program does only what its verb says. @param words behind the verb */
function isPlain(words: readonly string[], { flags, values = "", operands }: PlainWords): boolean {
  const valued = values.split(" ");
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    const [name = "", value] = word.split(/=(.*)/s, 2);
    if (word !== "" && valued.includes(name)) {
      if ((value ?? words[(at += 1)] ?? "-").startsWith("-")) return false;
    } else if (!(word.startsWith("-") && word !== "-" ? flags : operands).test(word)) return false;
  }
  return true;
}
