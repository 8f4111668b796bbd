import { isMet, type Reading } from "./reading.ts";

export const titles = ["measure", "floor", "figure", "ratio", "target", "met", "CPU floor", "CPU figure", "CPU ratio"];

/** The readings as aligned columns. */
export function table(readings: readonly Reading[]): string {
  const rows = [titles, ...readings.map(cellsOf)];
  const widths = titles.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  const lines = rows.map((cells) =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  "),
  );
  lines.splice(1, 0, widths.map((width) => "-".repeat(width)).join("  "));
  return `${lines.join("\n")}\n`;
}

/** The cells of a row, under the titles. */
export function cellsOf(reading: Reading): string[] {
  const { name, unit, floor, figure, target, processor } = reading;
  const met = isMet(reading);
  return [
    name,
    floor === undefined ? "" : `${short(floor)} ${unit}`,
    `${short(figure)} ${unit}`,
    floor === undefined ? "" : `${short(figure / floor)} x`,
    targetText(reading),
    met === undefined ? (target.type === "none" ? "" : "?") : met ? "yes" : "NO",
    ...(processor === undefined
      ? ["", "", ""]
      : [
          `${short(processor.floor)} ms`,
          `${short(processor.figure)} ms`,
          `${short(processor.figure / processor.floor)} x`,
        ]),
  ];
}

function targetText({ target, unit }: Reading): string {
  switch (target.type) {
    case "ratio":
      return `<= ${target.most} x`;
    case "most":
      return `<= ${target.value} ${unit}`;
    case "least":
      return `>= ${target.value} ${unit}`;
    case "none":
      return "";
  }
}

function short(value: number): string {
  if (Number.isNaN(value)) return "?";
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 0.1 ? 2 : 4);
}
