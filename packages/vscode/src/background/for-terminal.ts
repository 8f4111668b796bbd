/** Text for a terminal, with CR LF for each line feed. Without control characters, it cannot steer the terminal. */
export function forTerminal(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, "").replaceAll("\n", "\r\n");
}
