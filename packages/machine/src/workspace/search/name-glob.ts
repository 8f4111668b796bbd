/**
 * True when a glob matches a whole name, case folded: `*`, `?`, `[a-z]`, `[!a-z]`, `\` before a literal. No braces: see
 * `expandBraces`. Takes time in proportion to glob x name, whatever a model or a rule file wrote; a regular expression
 * made from the glob would not.
 */
export function matchesName(glob: string, name: string): boolean {
  const parts = parse(glob.toLowerCase());
  const text = name.toLowerCase();
  let part = 0;
  let index = 0;
  let star = -1;
  let retry = 0;
  while (index < text.length) {
    const current = parts[part];
    if (current === "star") {
      star = part;
      retry = index;
      part += 1;
    } else if (current?.(text.charAt(index))) {
      part += 1;
      index += 1;
    } else if (star >= 0) {
      part = star + 1;
      retry += 1;
      index = retry;
    } else return false;
  }
  return parts.slice(part).every((left) => left === "star");
}

/** `{a,b/c}` as alternatives. undefined when there would be more than 256. */
export function expandBraces(glob: string): readonly string[] | undefined {
  const done = new Set<string>();
  const pending = [glob];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const brace = /\{([^{}]*)\}/.exec(next);
    if (brace === null) {
      done.add(next);
      continue;
    }
    const before = next.slice(0, brace.index);
    const after = next.slice(brace.index + brace[0].length);
    for (const option of (brace[1] ?? "").split(",")) pending.push(before + option + after);
    if (done.size + pending.length > 256) return undefined;
  }
  return [...done];
}

type Part = "star" | ((character: string) => boolean);

function parse(glob: string): Part[] {
  const parts: Part[] = [];
  for (let at = 0; at < glob.length; at += 1) {
    const character = glob.charAt(at);
    if (character === "*") parts.push("star");
    else if (character === "?") parts.push(() => true);
    else if (character === "[" && glob.indexOf("]", at + 2) > 0) {
      const end = glob.indexOf("]", at + 2);
      parts.push(characterSet(glob.slice(at + 1, end)));
      at = end;
    } else {
      const literal = character === "\\" && at + 1 < glob.length ? glob.charAt(++at) : character;
      parts.push((other) => other === literal);
    }
  }
  return parts;
}

function characterSet(body: string): (character: string) => boolean {
  const negated = body.startsWith("!") || body.startsWith("^");
  const members = negated ? body.slice(1) : body;
  return (character) => {
    for (let at = 0; at < members.length; at += 1) {
      const from = members.charAt(at);
      const isRange = members.charAt(at + 1) === "-" && at + 2 < members.length;
      const to = isRange ? members.charAt(at + 2) : from;
      if (from <= character && character <= to) return !negated;
      if (isRange) at += 2;
    }
    return negated;
  };
}
