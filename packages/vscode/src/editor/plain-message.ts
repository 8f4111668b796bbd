/** Characters of a text of others that a notification shows without being unreadable. */
const longest = 160;

/** Text of others as a part of a notification: as {@link plainText}, and short. */
export function plainMessage(text: string): string {
  const line = plainText(text);
  return line.length > longest ? `${line.slice(0, longest - 1).trimEnd()}…` : line;
}

/**
 * Text as a notification shows it: one line, and as text. VS Code makes links of `[words](command:…)` in notifications, so that a
 * command line or a file's name could offer a click that nobody meant.
 */
export function plainText(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  return line.replaceAll("](", "] (");
}
