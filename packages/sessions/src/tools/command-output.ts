import { inOneLine } from "@gennai/governance/shown-names";

/** What a command printed, then the notes in brackets, each on one line of its own whatever names and messages it reports. */
export function withNotes(output: string, notes: readonly string[]): string {
  const separator = output === "" || output.endsWith("\n") ? "" : "\n";
  return `${output}${separator}${notes.map(inOneLine).join("\n")}`;
}
