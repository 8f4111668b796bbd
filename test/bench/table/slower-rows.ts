/** Ratios of processor times, figure to floor, by row. */
export type Ratios = Readonly<Record<string, number>>;

export interface SlowerRow {
  readonly name: string;
  readonly recorded: number;
  /** undefined: the row was not measured. */
  readonly measured: number | undefined;
}

/** A ratio grows by less than this through nothing but what else the machine does. */
const tolerance = 0.2;

/** The rows that take more of the floor's processor time than was recorded of them, or could not be measured, the worst first. */
export function slowerRows(recorded: Ratios, measured: Ratios): readonly SlowerRow[] {
  const growth = (row: SlowerRow) => (row.measured ?? Number.POSITIVE_INFINITY) / row.recorded;
  return Object.entries(recorded)
    .map(([name, ratio]): SlowerRow => ({ name, recorded: ratio, measured: finite(measured[name]) }))
    .filter((row) => growth(row) > 1 + tolerance)
    .sort((one, other) => growth(other) - growth(one));
}

/** A line for each of them, for people who read what CI printed. */
export function slowerLines(rows: readonly SlowerRow[]): readonly string[] {
  return rows.map(({ name, recorded, measured }) =>
    measured === undefined
      ? `slower? ${name}: not measured, recorded ${recorded.toFixed(1)} x`
      : `slower: ${name}: ${measured.toFixed(1)} x the floor's processor time, recorded ${recorded.toFixed(1)} x`,
  );
}

function finite(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}
