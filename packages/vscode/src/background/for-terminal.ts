/** Text for a terminal, which begins no new line by itself; nothing in it can steer the terminal. */
export function forTerminal(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, "").replaceAll("\n", "\r\n");
}
