import { inOneLine } from "@gennai/governance/shown-names";

/** A command's output, then the notes in brackets, one line each, whatever names and messages they contain. */
export function withNotes(output: string, notes: readonly string[]): string {
  const separator = output === "" || output.endsWith("\n") ? "" : "\n";
  return `${output}${separator}${notes.map(inOneLine).join("\n")}`;
}
