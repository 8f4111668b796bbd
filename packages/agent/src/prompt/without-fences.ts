/** Three or more marks at the beginning of a line, after at most three spaces. */
const marks = /(?<=^|\n) {0,3}((`|~)\2{2,})/g;

/**
 * The prompt with fenced code replaced by spaces, because it is quoted; everything else keeps its position. A fence
 * ends at the next fence of the same mark that is at least as long; an unclosed one is no fence. Linear time.
 */
export function withoutFences(prompt: string): string {
  const fences = [...prompt.matchAll(marks)].map(({ 0: all, 1: run = "", 2: mark = "", index }) => {
    return { start: index, end: index + all.length, mark, length: run.length, isClosed: false };
  });
  const longest: Record<string, number> = {};
  for (const fence of fences.toReversed()) {
    const later = longest[fence.mark] ?? 0;
    fence.isClosed = later >= fence.length;
    longest[fence.mark] = Math.max(later, fence.length);
  }
  const parts: string[] = [];
  let told = 0;
  let open: (typeof fences)[number] | undefined;
  for (const fence of fences) {
    if (open === undefined) open = fence.isClosed ? fence : undefined;
    else if (fence.mark === open.mark && fence.length >= open.length) {
      parts.push(prompt.slice(told, open.start), " ".repeat(fence.end - open.start));
      told = fence.end;
      open = undefined;
    }
  }
  return parts.join("") + prompt.slice(told);
}
