import type { Invocation } from "./invocation.ts";

/** A program with a command language of its own, from which a shell can be reached. */
interface EscapingProgram {
  readonly names: RegExp;
  /** Options whose value is in that language; `+` for words that start with it. */
  readonly options: readonly string[];
  /** Operands are in that language as well, the first one being a file. */
  readonly operands?: true;
  /** What stands before the shell's text, at the beginning of a line. */
  readonly escape: RegExp;
}

const programs: readonly EscapingProgram[] = [
  {
    names: /^(?:vi|vim|nvim|view|gvim|vimdiff|ex|ed|red)$/,
    options: ["-c", "--cmd", "+"],
    escape: /^:?\s*(?:\d*,?[\d$%.]*\s*(?:[rw]e?a?d?\s*)?!|:?sil(?:ent)?!?\s+!|term(?:inal)?!?\s)/,
  },
  { names: /^(?:less|more|most)$/, options: ["+"], escape: /^!/ },
  {
    names: /^(?:gdb|lldb|rr)$/,
    options: ["-ex", "-iex", "-o", "--eval-command"],
    escape: /^(?:!|shell\s|platform\s+shell\s)/,
  },
  { names: /^sqlite3$/, options: ["-cmd"], operands: true, escape: /^\.(?:shell|system)\s/ },
  { names: /^(?:psql|cockroach)$/, options: ["-c", "--command"], escape: /^\\!/ },
  { names: /^(?:mysql|mariadb)$/, options: ["-e", "--execute"], escape: /^(?:system\s|\\!)/ },
  { names: /^(?:expect|unbuffer)$/, options: ["-c"], escape: /^(?:spawn|exec|system)\s/ },
  { names: /^(?:ftp|sftp|lftp|mail|mailx)$/, options: ["-c", "-e"], escape: /^!/ },
  { names: /^(?:bc|dc|gnuplot|octave)$/, options: ["-e"], escape: /^!/ },
];

/** Texts that such a program hands to a shell: from its options, its operands and its input. */
export function shellEscapes({ name, words, input }: Invocation): readonly string[] {
  const program = programs.find(({ names }) => names.test(name));
  if (program === undefined) return [];
  const texts: string[] = [];
  for (const [index, { literal }] of words.entries()) {
    if (literal === undefined) continue;
    if (program.options.includes(literal)) texts.push(words[index + 1]?.literal ?? "");
    else if (program.options.includes("+") && literal.startsWith("+")) texts.push(literal.slice(1));
    else if (program.operands === true && index > 0) texts.push(literal);
    const joined = program.options.find((option) => literal.startsWith(`${option}=`));
    if (joined !== undefined) texts.push(literal.slice(joined.length + 1));
  }
  if (input.text !== undefined) texts.push(input.text);
  return texts
    .flatMap((text) => text.split(/[\n|;](?=\s*[:!.\\a-z])/))
    .flatMap((line) => {
      const [escape] = program.escape.exec(line.trim()) ?? [];
      return escape === undefined ? [] : [line.trim().slice(escape.length)];
    });
}
