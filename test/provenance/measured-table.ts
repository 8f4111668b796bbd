import { emptyTally, type Measured, type Tally } from "./measure.ts";

/** What must hold: shares of lines. */
const limits = { uniqueWrong: 0, commonWrong: 0.005, named: 0.95 };

/** The figures for people; `holds` when they are within the limits. */
export function measuredTable(measured: readonly Measured[]): { readonly table: string; readonly holds: boolean } {
  const all = sum(measured.map((each) => each.all));
  const rows = [...grouped(measured.flatMap(({ byName }) => [...byName]))];
  const methods = [...grouped(measured.flatMap(({ byMethod }) => [...byMethod]))];
  const heading = ["transformation", "files", "lines with origin", "named", "unique: wrong", "else: wrong"];
  const byShare = rows.sort(([, one], [, other]) => namedShare(one) - namedShare(other));
  const lines = [heading, ...byShare.map(([name, tally]) => row(name, tally)), row("all", all)];
  const widths = heading.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const shown = lines.map((line) =>
    line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join("  "),
  );
  const failing = byShare.filter(([, tally]) => !isWithin(tally)).map(([name]) => name);
  const holds = isWithin(all);
  const recognised = methods
    .filter(([, tally]) => tally.unique + tally.common > 0)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(
      ([name, tally]) =>
        `  ${name}: ${tally.unique + tally.common} named, ${tally.uniqueWrong + tally.commonWrong} wrong`,
    );
  const wrong = byShare.flatMap(([, tally]) =>
    tally.examples
      .toSorted((one, other) => Number(isOfUnique(other)) - Number(isOfUnique(one)))
      .slice(0, 6)
      .map((example) => `  ${example}`),
  );
  return {
    table: [
      ...shown,
      "",
      "By how they were recognised, and the confidence that was told:",
      ...recognised,
      ...(wrong.length === 0 ? [] : ["", "Wrong, some of them:", ...wrong]),
      "",
      failing.length === 0
        ? "Every transformation is within the limits."
        : `Beyond the limits by themselves: ${failing.join("; ")}.`,
      holds ? "All together are within the limits." : "All together are beyond the limits.",
      "",
    ].join("\n"),
    holds,
  };
}

/** These must be none, so they are shown before all others. */
function isOfUnique(example: string): boolean {
  return example.startsWith("UNIQUE ");
}

function isWithin(tally: Tally): boolean {
  return (
    tally.uniqueWrong <= limits.uniqueWrong * tally.unique &&
    tally.commonWrong <= limits.commonWrong * tally.common &&
    namedShare(tally) >= limits.named
  );
}

function namedShare({ named, origin }: Tally): number {
  return origin === 0 ? 1 : named / origin;
}

function row(name: string, tally: Tally): readonly string[] {
  const percent = (part: number, of: number): string => (of === 0 ? "–" : `${((100 * part) / of).toFixed(2)} %`);
  return [
    name,
    String(tally.transformed),
    String(tally.origin),
    percent(tally.named, tally.origin),
    `${tally.uniqueWrong} of ${tally.unique}`,
    `${tally.commonWrong} of ${tally.common}, ${percent(tally.commonWrong, tally.common)}`,
  ];
}

function grouped(tallies: readonly (readonly [string, Tally])[]): ReadonlyMap<string, Tally> {
  const groups = new Map<string, Tally[]>();
  for (const [name, tally] of tallies) groups.set(name, [...(groups.get(name) ?? []), tally]);
  return new Map([...groups].map(([name, each]) => [name, sum(each)]));
}

function sum(tallies: readonly Tally[]): Tally {
  const total = emptyTally();
  for (const tally of tallies) {
    for (const name of ["transformed", "origin", "named", "unique", "uniqueWrong", "common", "commonWrong"] as const) {
      total[name] += tally[name];
    }
    total.examples.push(...tally.examples);
  }
  return total;
}
