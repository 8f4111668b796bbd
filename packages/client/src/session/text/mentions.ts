/** A mention that is being typed: `@` and what follows, up to the caret; `#`, as other editors have it, becomes one. */
export interface TypedMention {
  /** Position of the `@` or `#`. */
  readonly start: number;
  /** The typed part of the path, without sign and quotes. */
  readonly prefix: string;
}

/** Mentions that name no path. */
export const namedMentions = ["problems", "diff", "staged"] as const;

/** The mention around the caret; undefined if there is none. */
export function mentionAt(text: string, caret: number): TypedMention | undefined {
  const match = /(?:^|[\s([{<,;])[@#](?:"([^"\n]*)|'([^'\n]*)|([^\s"'`,;()[\]{}<>]*))$/.exec(text.slice(0, caret));
  const prefix = match?.[1] ?? match?.[2] ?? match?.[3];
  if (match === null || prefix === undefined) return undefined;
  return { start: match.index + match[0].search(/[@#]/), prefix };
}

/** False for a name that would end its own mention: what comes behind it would read as the user's words. */
export function canMention(path: string): boolean {
  return !/\p{Cc}/u.test(path) && !(path.includes('"') && path.includes("'"));
}

/** The text with the mention completed to this path, and the new caret position. A directory stays open for further typing. */
export function completeMention(
  text: string,
  caret: number,
  mention: TypedMention,
  path: string,
): { readonly text: string; readonly caret: number } {
  const open = path.endsWith("/");
  const quote = quoteFor(path);
  const written = `@${quote}${path}${open ? "" : quote}`;
  const behind = text.slice(caret);
  // A quote that was closed already is not closed again.
  const rest = quote !== "" && !open && behind.startsWith(quote) ? behind.slice(1) : behind;
  const blank = open || /^\s/.test(rest) ? "" : " ";
  const before = text.slice(0, mention.start) + written + blank;
  return { text: before + rest, caret: before.length };
}

/** A path as a prompt mentions it, e.g. `@src/a.ts:10-20`. @param lines 1-based, inclusive; undefined: all of it */
export function writtenMention(path: string, lines?: { readonly startLine: number; readonly endLine: number }): string {
  const quote = quoteFor(path);
  if (lines === undefined) return `@${quote}${path}${quote}`;
  const { startLine, endLine } = lines;
  return `@${quote}${path}${quote}:${startLine === endLine ? startLine : `${startLine}-${endLine}`}`;
}

/** Quotes a path that would otherwise end the mention, or be read as the end of a sentence or as line numbers. */
function quoteFor(path: string): string {
  if (!/[\s"'`,;()[\]{}<>]|[.:!?…]$|[:#]L?\d+(?:-L?\d+)?$/u.test(path) || /^\.\.?$/.test(path)) return "";
  return path.includes('"') ? "'" : '"';
}
