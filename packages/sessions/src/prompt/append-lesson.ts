const heading = /^(#{1,6})\s+lessons\s*#*\s*$/i;

/**
 * Adds a lesson to a notes file: a bullet at the end of the section `Lessons`, which is created at the end of the file if
 * missing. Lines end with LF. Undefined if the lesson is already there.
 * @param lesson white space in it becomes single spaces, so that it stays one bullet
 */
export function appendLesson(text: string, lesson: string): string | undefined {
  const bullet = `- ${lesson.replaceAll(/\s+/g, " ").trim()}`;
  const lines = text.split("\n");
  const section = findSection(lines);
  if (section === undefined) {
    const before = text.trim() === "" ? "" : `${text.replace(/\n*$/, "")}\n\n`;
    return `${before}## Lessons\n\n${bullet}\n`;
  }
  const { start, end } = section;
  if (lines.slice(start, end).some((line) => line.trim() === bullet)) return undefined;
  let last = end;
  while (last > start && lines[last - 1]?.trim() === "") last -= 1;
  const gap = last === start ? [""] : [];
  const after = lines.slice(last);
  const rest = after.every((line) => line.trim() === "") ? [""] : after;
  return [...lines.slice(0, last), ...gap, bullet, ...rest].join("\n");
}

/** Lines between the heading and the next one of its rank; headings in code fences are text. */
function findSection(lines: readonly string[]): { readonly start: number; readonly end: number } | undefined {
  let fence: string | undefined;
  let start: number | undefined;
  let rank = 0;
  for (const [index, line] of lines.entries()) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence) === true) fence = undefined;
      continue;
    }
    if (mark !== undefined) {
      fence = mark;
      continue;
    }
    const level = /^(#{1,6})\s/.exec(line)?.[1]?.length;
    if (level === undefined) continue;
    if (start !== undefined && level <= rank) return { start, end: index };
    if (start === undefined && heading.test(line)) {
      start = index + 1;
      rank = level;
    }
  }
  return start === undefined ? undefined : { start, end: lines.length };
}
