/**
 * True when an awk program provably only computes and prints to its output: no files, pipes, commands, `getline`,
 * libraries or extensions. Strings and regular expressions are blanked first, so that a `>` in them is not a redirection.
 */
export function awkOnlyReads(program: string): boolean {
  const code = blank(program);
  if (code === undefined) return false;
  if (
    /\b(?:system|getline|close|fflush|ENVIRON|PROCINFO|ARGV|ARGC)\b|@|\|(?!\|)|\/inet/.test(code.replace(/\|\|/g, ""))
  )
    return false;
  // An indirect comparison is fine, `print > file` is not: after print or printf, `>` redirects.
  for (const match of code.matchAll(/\bprintf?\b([^;}\n]*)/g)) {
    if (/>/.test(stripParentheses(match[1] ?? ""))) return false;
  }
  return true;
}

function stripParentheses(text: string): string {
  let result = text;
  for (let round = 0; round < 16; round += 1) {
    const next = result.replace(/\([^()]*\)/g, "");
    if (next === result) break;
    result = next;
  }
  return result;
}

/** The program without strings, regular expressions and comments; undefined when it does not end properly. */
function blank(program: string): string | undefined {
  let result = "";
  let previous = "";
  for (let index = 0; index < program.length; index += 1) {
    const character = program[index] ?? "";
    const startsRegex = character === "/" && (previous === "" || /[~!({,;&|\n]/.test(previous));
    if (character === '"' || startsRegex) {
      let end = index + 1;
      while (end < program.length && program[end] !== character) end += program[end] === "\\" ? 2 : 1;
      if (end >= program.length) return undefined;
      result += "0";
      previous = "0";
      index = end;
      continue;
    }
    if (character === "#") {
      while (index < program.length && program[index] !== "\n") index += 1;
      result += "\n";
      continue;
    }
    result += character;
    if (!/[ \t]/.test(character)) previous = character;
  }
  return result;
}
