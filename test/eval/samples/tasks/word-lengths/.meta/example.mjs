export function wordLengths(text) {
  const counts = {};
  for (const [word] of text.matchAll(/\p{L}+/gu)) {
    const length = [...word].length;
    counts[length] = (counts[length] ?? 0) + 1;
  }
  return counts;
}
