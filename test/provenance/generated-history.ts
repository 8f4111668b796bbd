import type { SeededRandom } from "@gennai/testkit/seeded-random";
import type { HistoryStep } from "./replayed-history.ts";

/** A history as a small program has one: files of functions, to which commits add, of which they change and move some. */
export function generatedHistory(random: SeededRandom, commits: number): readonly HistoryStep[] {
  const files = new Map<string, readonly string[]>();
  const steps: HistoryStep[] = [];
  for (let commit = 1; commit <= commits; commit += 1) {
    const path =
      files.size < 4 || random.next() < 0.08 ? `src/part-${files.size + 1}.js` : random.pick([...files.keys()]);
    const old = files.get(path);
    const lines = old === undefined ? fresh(random, random.between(3, 6)) : changed(old, random);
    files.set(path, lines);
    const text = (all: readonly string[] | undefined): string | undefined => all?.map((line) => `${line}\n`).join("");
    steps.push({ commit, path, before: text(old), after: text(lines) });
  }
  return steps;
}

function changed(lines: readonly string[], random: SeededRandom): readonly string[] {
  const at = random.between(0, lines.length);
  const kind = random.next();
  if (kind < 0.5) return lines.toSpliced(at, 0, ...fresh(random, 1));
  if (kind < 0.65) return lines.toSpliced(at, random.between(1, 3));
  const row = random.between(0, lines.length - 1);
  return lines.map((line, index) => (index === row ? line.replace(/[a-z]{4,}/, name(random)) : line));
}

function fresh(random: SeededRandom, functions: number): readonly string[] {
  return Array.from({ length: functions }, () => {
    const [one, two, three] = [name(random), name(random), name(random)];
    const count = random.between(1, 4);
    const body = Array.from({ length: count }, () =>
      random.pick([
        [`  const ${name(random)} = ${one}(${two}, '${name(random)}');`],
        [`  if (${name(random)} === undefined) {`, "    return null;", "  }"],
        [`  for (const ${three} of ${two}) {`, `    ${name(random)}.push(${three}, ${random.between(1, 99)});`, "  }"],
        ["  }", `  // ${name(random)} ${name(random)}`],
      ]),
    );
    return [
      "/**",
      ` * Gives the ${one} of a ${two}.`,
      " */",
      `function ${one}${three}(${two}) {`,
      ...body.flat(),
      "}",
      "",
    ];
  }).flat();
}

const syllables = ["ba", "co", "di", "fe", "gu", "ha", "jo", "ki", "le", "mu", "na", "po", "ri", "se", "tu", "va"];

function name(random: SeededRandom): string {
  return Array.from({ length: random.between(2, 4) }, () => random.pick(syllables)).join("");
}
