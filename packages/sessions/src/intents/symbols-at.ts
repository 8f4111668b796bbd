import type { ChangedBlock } from "@gennai/governance/tool";

/** Longer lines are generated code; names in them are useless. */
const maxLineLength = 400;
const maxLines = 200_000;

const modifiers =
  "(?:(?:export|default|public|private|protected|internal|static|async|abstract|final|override|virtual|declare|readonly|unsafe|open|sealed|data|inline|suspend|pub(?:\\([a-z]+\\))?)\\s+)*";
/** Declaring keywords followed by the name, in the most common languages. */
const declared = new RegExp(
  `^\\s*${modifiers}(?:function\\*?|class|interface|enum|type|struct|trait|impl|fn|func|fun|def|module|record|object|namespace|protocol)\\s+(?:\\([^()]*\\)\\s*)?([\\p{L}_$][\\p{L}\\p{N}_$]*)`,
  "u",
);
const assigned = new RegExp(
  `^\\s*${modifiers}(?:const|let|var)\\s+([\\p{L}_$][\\p{L}\\p{N}_$]*)[^=]{0,200}=\\s*(?:async\\s*)?(?:function\\b|\\(|[\\p{L}_$][\\p{L}\\p{N}_$]*\\s*=>)`,
  "u",
);
const method = new RegExp(
  `^\\s+${modifiers}(?:get\\s+|set\\s+)?([\\p{L}_$#][\\p{L}\\p{N}_$]*)\\s*\\([^;]{0,200}\\{\\s*$`,
  "u",
);
const notAName = new Set([
  "if",
  "for",
  "while",
  "switch",
  "catch",
  "function",
  "return",
  "with",
  "else",
  "do",
  "try",
  "new",
  "await",
]);

/**
 * Names of the functions, classes etc. that contain or are declared in these blocks of a text. Found by the look of the lines,
 * not by a parser; nested names are joined by dots, outermost first.
 */
export function symbolsAt(text: string, blocks: readonly ChangedBlock[]): readonly string[] {
  const lines = text.split(/\r?\n/);
  if (lines.length > maxLines) return [];
  const symbols = new Set<string>();
  for (const { startLine, endLine } of blocks) {
    let named = false;
    for (let line = startLine; line <= Math.min(endLine, lines.length); line += 1) {
      const name = symbolOf(lines[line - 1] ?? "");
      if (name === undefined) continue;
      named = true;
      symbols.add([...around(lines, line), name].join("."));
    }
    if (named) continue;
    const outer = around(lines, startLine);
    if (outer.length > 0) symbols.add(outer.join("."));
  }
  return [...symbols];
}

/** What encloses a line: the declarations above it with ever smaller indentation. */
function around(lines: readonly string[], line: number): readonly string[] {
  const names: string[] = [];
  let indent = indentOf(lines[line - 1] ?? "");
  for (let above = line - 1; above >= 1 && indent > 0; above -= 1) {
    const text = lines[above - 1] ?? "";
    if (text.trim() === "" || indentOf(text) >= indent) continue;
    indent = indentOf(text);
    const name = symbolOf(text);
    if (name !== undefined) names.unshift(name);
  }
  return names;
}

function symbolOf(line: string): string | undefined {
  if (line.length > maxLineLength) return undefined;
  const name = declared.exec(line)?.[1] ?? assigned.exec(line)?.[1] ?? method.exec(line)?.[1];
  return name === undefined || notAName.has(name) ? undefined : name;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
