import type { Outcome, Score } from "./score.ts";

const columns = ["accepted", "normalised", "asked", "refused", "failed"] as const satisfies readonly Outcome[];
const mostClasses = 12;

/** The scores as aligned columns, and below each table row's name the classes of what was not accepted as it is. */
export function scoreTable(scores: readonly Score[]): string {
  const head = ["played", "number", ...columns, "identical"];
  const rows = scores.map((score) => [
    score.name,
    String(score.total),
    ...columns.map((column) => String(score.of(column))),
    score.isCompared ? String(score.identical) : "",
  ]);
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((cells) => cells[column]?.length ?? 0)),
  );
  const lines = [head, ...rows].map((cells) =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
  return `${[...lines, ...scores.flatMap(classLines)].join("\n")}\n`;
}

function classLines({ name, classes }: Score): readonly string[] {
  if (classes.length === 0) return [];
  const shown = classes.slice(0, mostClasses).map(({ why, count, example }) => {
    const short = example.length > 160 ? `${example.slice(0, 160)}…` : example;
    return `${String(count).padStart(6)}  ${why}${short === "" ? "" : `, e.g. ${short}`}`;
  });
  const more = classes.length - mostClasses;
  return ["", `${name}:`, ...shown, ...(more > 0 ? [`        and ${more} more classes`] : [])];
}
