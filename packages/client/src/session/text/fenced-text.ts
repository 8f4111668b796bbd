/**
 * A text as material of a prompt, in a fence that nothing in it ends: what fenced text mentions is not fetched.
 * @param title one line; empty: none
 */
export function fencedText(text: string, title = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/~+/g)].map(([marks]) => marks.length));
  const fence = "~".repeat(longest + 1);
  return `${fence}${title === "" ? "" : ` ${title}`}\n${text.replace(/\n+$/, "")}\n${fence}`;
}
