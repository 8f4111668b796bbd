import { knownPrograms, readingForms } from "../../../packages/governance/src/programs/known-programs.ts";
import { code, page, table } from "./markdown.mjs";

const operands = {
  content: "files, read",
  names: "files, looked at",
  text: "words",
  none: "none",
  revisions: "what git takes",
};

const withVersion = knownPrograms.flatMap(({ names, tellsVersion }) => (tellsVersion ? names.split(" ") : []));

/** The page of commands that need no question where they cannot be staged. */
export function commandsPage() {
  return page(
    "# Commands that run unasked where they cannot be staged",
    "Where a command cannot run [on a stage](../commands.md), it runs without a question only if it is one of these, called with no other options. " +
      'Words are written plainly, or in quotes; `$HOME` and `$PWD` are the only variables; there are no braces or tildes. Files may be given by one `*` in the last part of a relative path (`src/*.ts`), where no name can come out as an option, and `echo` may print what another such command prints (`"$(…)"`). No `..` comes behind a name, and what `git remote` and `git config` print goes to no other program. They may be joined by `|`, `&&`, `||`, `;` and line ends, take their input from a file or from lines behind the command, and throw output away (`2>/dev/null`, `2>&1`). ' +
      "Where no sandbox covers secrets, a command that could show one below a directory or behind a link asks as well. " +
      "[Why](../decisions/2026-11-23-closed-grammar.md).",
    table(
      ["program", "options", "other words"],
      [...readingForms].map(([name, row]) => [
        code(name),
        row.options === "any" ? "any: all are printed" : code(row.options),
        otherWords(row),
      ]),
    ),
    `\`--version\`, \`-v\`, \`-V\` or \`version\`, alone, of ${withVersion.map(code).join(", ")}.`,
    "In options, `=` takes a value, `?` one behind an equals sign, `-#` is a number, as in `head -20`.",
  );
}

/** @param {import("../../../packages/governance/src/programs/program.ts").ReadingForm} row */
function otherWords(row) {
  const parts = [row.pattern === true ? `a pattern, then ${operands[row.operands]}` : operands[row.operands]];
  if (row.most === 0) parts[0] = "none";
  else if (row.most !== undefined) parts.push(`at most ${row.most}`);
  if (row.needs !== undefined) parts.push(`only with ${row.needs.map(code).join(" or ")}`);
  if (row.form !== undefined)
    parts.push(`${row.pattern === true ? "the pattern is" : "each is"} like ${code(row.form.source)}`);
  return parts.join("; ");
}
