/** Three or more marks at the beginning of a line, after at most three spaces. */
const marks = /^ {0,3}(`{3,}|~{3,})/;

interface Fence {
  readonly start: number;
  readonly end: number;
  readonly mark: string;
  readonly length: number;
}

/**
 * The prompt with fenced code replaced by spaces, because it is quoted; everything else keeps its position. A fence
 * ends at the next fence of the same mark that is at least as long; an unclosed one is no fence. Linear time.
 */
export function withoutFences(prompt: string): string {
  const fences = fencesOf(prompt);
  const closing = closingFences(fences);
  const parts: string[] = [];
  let told = 0;
  for (let at = 0; at < fences.length; at += 1) {
    const [open, close] = [fences[at], fences[closing[at] ?? -1]];
    if (open === undefined || close === undefined) continue;
    parts.push(prompt.slice(told, open.start), " ".repeat(close.end - open.start));
    told = close.end;
    at = closing[at] ?? at;
  }
  return parts.length === 0 ? prompt : parts.join("") + prompt.slice(told);
}

function fencesOf(prompt: string): readonly Fence[] {
  const fences: Fence[] = [];
  for (let start = 0; start < prompt.length; ) {
    const lineEnd = prompt.indexOf("\n", start);
    const next = lineEnd === -1 ? prompt.length : lineEnd + 1;
    const found = marks.exec(prompt.slice(start, next));
    if (found !== null) {
      const [all, run = ""] = found;
      fences.push({ start, end: start + all.length, mark: run.charAt(0), length: run.length });
    }
    start = next;
  }
  return fences;
}

/** For each fence, the index of its closing fence. Goes from the last to the first, with a stack of ever longer fences. */
function closingFences(fences: readonly Fence[]): readonly (number | undefined)[] {
  const closing: (number | undefined)[] = [];
  const longer: Record<string, number[]> = { "`": [], "~": [] };
  for (let at = fences.length - 1; at >= 0; at -= 1) {
    const { mark, length } = fences[at] ?? { mark: "", length: 0 };
    const stack = longer[mark] ?? [];
    while (stack.length > 0 && (fences[stack.at(-1) ?? at]?.length ?? 0) < length) stack.pop();
    closing[at] = stack.at(-1);
    stack.push(at);
  }
  return closing;
}
