import type { AnalysisReport } from "./analysis-report.ts";
import { deletes, type Interpreter, interpreterOf, pathsInCode, startsProcess, truncates } from "./interpreters.ts";
import type { Invocation } from "./invocation.ts";

/** `print | "sh"`, `"date" | getline`. */
const awkRuns = /\|&?\s*"|"\s*\|&?\s*getline\b/;
const awkWrites = />>?\s*"([^"\n]+)"/g;

/** Code in the words of an interpreter, or on its input: what it starts, deletes and names. */
export function interpretCode(invocation: Invocation, report: AnalysisReport): void {
  const { name, words, input } = invocation;
  const interpreter = interpreterOf(name);
  if (interpreter === undefined) return;
  const codes: (string | undefined)[] = [];
  let operand = false;
  for (let index = 0; index < words.length; index += 1) {
    const text = words[index]?.literal;
    if (text === undefined) {
      if (/awk$/.test(name)) codes.push(undefined);
      continue;
    }
    const joined = interpreter.code.find(
      (option) => text === option || (option.startsWith("--") && text.startsWith(`${option}=`)),
    );
    if (joined !== undefined) {
      codes.push(text === joined ? words[++index]?.literal : text.slice(joined.length + 1));
      operand = true;
    } else if (
      /^-[a-zA-Z]+$/.test(text) &&
      interpreter.code.some((option) => option.length === 2 && cluster(text, interpreter).includes(option[1] ?? "")) &&
      !/^-[mM]/.test(text)
    ) {
      const letter = [...text].findIndex((character) => interpreter.code.includes(`-${character}`));
      const rest = text.slice(letter + 1);
      codes.push(rest !== "" && interpreter.values?.includes(text[letter] ?? "") ? rest : words[++index]?.literal);
      operand = true;
    } else if (!text.startsWith("-")) {
      if (/awk$/.test(name) && !operand) codes.push(text);
      operand = true;
    }
  }
  if (!operand && interpreter.readsInput && input.type !== "inherited") codes.push(input.text);
  for (const code of codes) {
    if (code === undefined) {
      report.unresolved("code that is not known before it runs");
      continue;
    }
    if (startsProcess.test(code) || (/awk$/.test(name) && awkRuns.test(code))) {
      report.danger({
        rule: "floor/inline-code",
        verdict: "deny",
        reason: `The ${name} code starts another program. Run that program as a command of its own.`,
        high: true,
      });
    }
    if (deletes.test(code)) {
      report.danger({
        rule: "floor/inline-code",
        verdict: "deny",
        reason: `The ${name} code deletes files. Use the file tools.`,
        high: true,
      });
    }
    if (/awk$/.test(name))
      for (const [, file = ""] of code.matchAll(awkWrites)) report.mention(file, invocation, "write");
    for (const path of pathsInCode(code)) report.mention(path, invocation, truncates.test(code) ? "write" : "unknown");
  }
}

/** The letters of a cluster that are options: behind one that takes a value stands that value. */
function cluster(text: string, interpreter: Interpreter): string {
  const valued = [...text].findIndex((letter, index) => {
    return index > 0 && (interpreter.values ?? "").includes(letter) && !interpreter.code.includes(`-${letter}`);
  });
  // `-i.bak` takes one, `-pie` does not.
  return valued < 0 || text[valued] === "i" ? text : text.slice(0, valued + 1);
}
