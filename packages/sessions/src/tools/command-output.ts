/** What a command printed, then the notes in brackets, each on a line of its own. */
export function withNotes(output: string, notes: readonly string[]): string {
  const separator = output === "" || output.endsWith("\n") ? "" : "\n";
  return `${output}${separator}${notes.join("\n")}`;
}
