/** The alternatives of `{a,b}`, including nested ones; undefined if there are more than `limit`. */
export function expandBraces(pattern: string, limit: number): readonly string[] | undefined {
  const done: string[] = [];
  const pending = [pattern];
  for (let text = pending.pop(); text !== undefined; text = pending.pop()) {
    const group = firstGroup(text);
    if (group === undefined) {
      done.push(text);
    } else {
      const { start, end, parts } = group;
      for (const part of parts.toReversed()) pending.push(text.slice(0, start) + part + text.slice(end));
    }
    if (done.length + pending.length > limit) return undefined;
  }
  return done;
}

interface Group {
  readonly start: number;
  /** Behind the closing brace. */
  readonly end: number;
  readonly parts: readonly string[];
}

/** The first `{…}` that directly contains a comma; other braces are literal. */
function firstGroup(text: string): Group | undefined {
  const open: { readonly start: number; readonly commas: number[] }[] = [];
  let found: Group | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === "\\") at += 1;
    else if (character === "{") open.push({ start: at, commas: [] });
    else if (character === ",") open.at(-1)?.commas.push(at);
    else if (character === "}") {
      const group = open.pop();
      if (group === undefined || group.commas.length === 0) continue;
      const borders = [group.start, ...group.commas, at];
      const parts = borders.slice(1).map((border, index) => text.slice((borders[index] ?? 0) + 1, border));
      // The outer group closes later and is used instead: its content is expanded afterwards.
      if (found === undefined || group.start < found.start) found = { start: group.start, end: at + 1, parts };
      if (open.length === 0) return found;
    }
  }
  return found;
}
