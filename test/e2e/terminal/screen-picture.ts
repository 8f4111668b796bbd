import type { Terminal } from "@xterm/headless";

/** Of a dark terminal, in ANSI order. */
const palette = [
  ...["#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4"],
  ...["#6e7681", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#ffffff"],
];
const text = "#e6edf3";
const ground = "#161b22";
/** Pixels of a cell, and around all of them. */
const [cellWidth, cellHeight, margin] = [8, 18, 14];

/** The visible screen as an SVG, for the documentation. @param title what it shows, for those who do not see it */
export function screenPicture({ buffer: { active }, cols }: Terminal, title: string): string {
  const last = Array.from({ length: active.length - active.baseY }, (_, row) => active.getLine(active.baseY + row))
    .map((line) => line?.translateToString(true) ?? "")
    .findLastIndex((line) => line !== "");
  const [width, height] = [cols * cellWidth + 2 * margin, (last + 1) * cellHeight + 2 * margin];
  const rows = Array.from({ length: last + 1 }, (_, row) => rowPicture(active.getLine(active.baseY + row), row, cols));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="t">
<title id="t">${escaped(title)}</title>
<style>text{font:13.3px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;fill:${text}}</style>
<rect width="100%" height="100%" rx="8" fill="${ground}"/>
${rows.filter((row) => row !== "").join("\n")}
</svg>
`;
}

type Line = ReturnType<Terminal["buffer"]["active"]["getLine"]>;

/** Cells of the same look are one piece. */
function rowPicture(line: Line, row: number, cols: number): string {
  const pieces: { at: number; look: string; text: string; back: string }[] = [];
  const used = Math.min(cols, line?.translateToString(true).length ?? 0);
  for (let at = 0; at < used; at++) {
    const cell = line?.getCell(at);
    if (cell === undefined || cell.getWidth() === 0) continue;
    const isInverse = cell.isInverse() !== 0;
    const front = cell.isFgDefault() ? text : (palette[cell.getFgColor()] ?? text);
    const look = [
      `fill:${isInverse ? ground : front}`,
      ...(cell.isBold() === 0 ? [] : ["font-weight:700"]),
      ...(cell.isDim() === 0 ? [] : ["opacity:.65"]),
      ...(cell.isItalic() === 0 ? [] : ["font-style:italic"]),
    ].join(";");
    const piece = pieces.at(-1);
    const back = isInverse ? front : "";
    if (piece?.look === look && piece.back === back) piece.text += cell.getChars() || " ";
    else pieces.push({ at, look, back, text: cell.getChars() || " " });
  }
  const y = margin + row * cellHeight;
  return pieces
    .filter((piece) => piece.text.trim() !== "" || piece.back !== "")
    .map((piece) => {
      const [x, length] = [margin + piece.at * cellWidth, [...piece.text].length * cellWidth];
      const back =
        piece.back === ""
          ? ""
          : `<rect x="${x}" y="${y}" width="${length}" height="${cellHeight}" fill="${piece.back}"/>`;
      return `${back}<text x="${x}" y="${y + 13}" textLength="${length}" style="${piece.look}">${escaped(piece.text)}</text>`;
    })
    .join("");
}

function escaped(words: string): string {
  return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
