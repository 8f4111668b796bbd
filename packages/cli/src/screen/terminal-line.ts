import { visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";

/** Anything that controls a terminal but styles of text, `ESC [ … m`. */
const controls = /\u001b(?!\[[\d;]*m)|[\u0000-\u001a\u001c-\u001f\u007f-\u009f]/g;

/** A line from which nothing but styles of text reaches the terminal, closed at its end. */
export function onlyStyles(line: string): string {
  const safe = line.replaceAll("\t", "  ").replace(controls, "");
  return safe.includes("\u001b") ? `${safe}\u001b[0m` : safe;
}

/** Text with styles in lines of this width; a line of its own for each line of the text. */
export function wrapped(text: string, width: number): readonly string[] {
  return wrapTextWithAnsi(text.replaceAll("\t", "  "), Math.max(1, width));
}

/** What turns one drawn line into another, from any column of its row: only what follows the common beginning, if that is plain. */
export function changedLine(before: string, after: string): string {
  let common = 0;
  while (common < before.length && before[common] === after[common]) common++;
  const begin = after.slice(0, common);
  const isPlain = /^(?:(?:\u001b\[\d+m)?›(?:\u001b\[\d+m)? )?[\u0020-\u007e]*$/.test(begin);
  if (!isPlain) return `\r${after}\u001b[K`;
  return `\u001b[${visibleWidth(begin) + 1}G${after.slice(common)}\u001b[K`;
}
