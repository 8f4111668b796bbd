/** Most characters of a text that stay readable in a notification. */
const longest = 160;

/** Untrusted text as a part of a notification: like {@link plainText}, and short. */
export function plainMessage(text: string): string {
  const line = plainText(text);
  return line.length > longest ? `${line.slice(0, longest - 1).trimEnd()}…` : line;
}

/**
 * Text for a notification, on one line and without links. VS Code makes links of `[words](command:…)` in notifications, so a
 * command line or a file's name could offer a click that nobody intended.
 */
export function plainText(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  return line.replaceAll("](", "] (");
}
