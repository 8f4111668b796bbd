export interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

export interface MetricFamily {
  readonly type: string;
  readonly samples: readonly Sample[];
}

const comment = /^# (HELP|TYPE|UNIT) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/;
const sample = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([^ ]+)$/;
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/gy;
const types = new Set(["counter", "gauge", "histogram"]);

/**
 * Parses Prometheus's text format 0.0.4, strictly. Throws for an invalid line, a sample before its type or of another family, a
 * duplicate series, and a histogram whose buckets do not add up.
 */
export function parsePrometheusText(text: string): ReadonlyMap<string, MetricFamily> {
  if (!text.endsWith("\n")) throw new Error("The last line has no end.");
  const families = new Map<string, { type: string; samples: Sample[] }>();
  const seen = new Set<string>();
  let current = "";
  for (const line of text.split("\n").slice(0, -1)) {
    if (line.startsWith("#")) {
      const [, kind, name = "", rest = ""] = comment.exec(line) ?? [];
      if (kind === undefined) throw new Error(`No comment: ${line}`);
      if (kind !== "TYPE") continue;
      if (!types.has(rest) || families.has(name)) throw new Error(`No type, or its second: ${line}`);
      families.set(name, { type: rest, samples: [] });
      current = name;
      continue;
    }
    const [, name = "", labels = "", number = ""] = sample.exec(line) ?? [];
    const family = families.get(current);
    if (name === "" || family === undefined || !belongs(name, current, family.type))
      throw new Error(`No sample: ${line}`);
    const found = { name, labels: labelsOf(labels, line), value: number === "+Inf" ? Infinity : Number(number) };
    if (Number.isNaN(found.value)) throw new Error(`No number: ${line}`);
    const series = JSON.stringify([name, ...found.labels]);
    if (seen.has(series)) throw new Error(`Twice: ${line}`);
    seen.add(series);
    family.samples.push(found);
  }
  for (const [name, family] of families) if (family.type === "histogram") checkHistogram(name, family.samples);
  return families;
}

function belongs(name: string, family: string, type: string): boolean {
  return (
    name === family || (type === "histogram" && ["_bucket", "_sum", "_count"].some((end) => name === family + end))
  );
}

function labelsOf(text: string, line: string): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  label.lastIndex = 0;
  let end = 0;
  for (let match = label.exec(text); match !== null && match[0] !== ""; match = label.exec(text)) {
    labels.set(match[1] ?? "", match[2] ?? "");
    end = label.lastIndex;
  }
  if (end !== text.length) throw new Error(`No labels: ${line}`);
  return labels;
}

function checkHistogram(name: string, samples: readonly Sample[]): void {
  const seriesOf = ({ labels }: Sample) => JSON.stringify([...labels].filter(([key]) => key !== "le"));
  for (const count of samples.filter((each) => each.name === `${name}_count`)) {
    const series = seriesOf(count);
    const buckets = samples.filter((each) => each.name === `${name}_bucket` && seriesOf(each) === series);
    const rising = buckets.every(({ value }, index) => value >= (buckets[index - 1]?.value ?? 0));
    const last = buckets.at(-1);
    if (!rising || last?.labels.get("le") !== "+Inf" || last.value !== count.value) {
      throw new Error(`The buckets of ${name} ${series} do not add up.`);
    }
  }
}
