import type { Attempt } from "../play/ask-model.ts";

const titles = [
  ...["task", "solved", "end", "model calls", "tool calls", "asked", "refused", "failed", "tokens in", "tokens out"],
  "seconds",
];

/** A line for each task, and the sum. */
export function modelTable(attempts: readonly Attempt[]): string {
  const sum = (of: (attempt: Attempt) => number): number => attempts.reduce((total, attempt) => total + of(attempt), 0);
  const rows = attempts.map((each) => [
    each.task,
    each.isSolved ? "yes" : "no",
    each.end,
    ...[
      each.modelCalls,
      each.toolCalls,
      each.asked,
      each.refused,
      each.failed,
      each.inputTokens,
      each.outputTokens,
    ].map(String),
    each.seconds.toFixed(1),
  ]);
  const total = [
    "all",
    `${sum(({ isSolved }) => Number(isSolved))} of ${attempts.length}`,
    "",
    ...(["modelCalls", "toolCalls", "asked", "refused", "failed", "inputTokens", "outputTokens"] as const).map((key) =>
      String(sum((attempt) => attempt[key])),
    ),
    sum(({ seconds }) => seconds).toFixed(1),
  ];
  const all = [titles, ...rows, total];
  const widths = titles.map((_, column) => Math.max(...all.map((cells) => cells[column]?.length ?? 0)));
  return `${all
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n")}\n`;
}
