import type { QuietRun } from "../runs/compared-runs.ts";

/** Maximum fraction of commands that are not quiet: of those that need neither network nor a service, and of all. */
const mostLocal = 0.03;
const mostOfAll = 0.2;

/** How many commands were quiet, as a table, and whether enough were. What is not installed is counted apart. */
export function quietTable(runs: readonly QuietRun[]): { readonly text: string; readonly isMet: boolean } {
  const local = runs.filter(({ needs }) => needs === undefined);
  const rows = [
    row("neither network nor a service", local),
    row(
      "network",
      runs.filter(({ needs }) => needs === "network"),
    ),
    row(
      "a service",
      runs.filter(({ needs }) => needs === "service"),
    ),
    row("all", runs),
  ];
  const shares = [
    `Of those that need neither, not quiet: ${percent(loud(local))} (at most ${percent(mostLocal)}), asked or refused: ${percent(asked(local))}`,
    `Of all, not quiet: ${percent(loud(runs))} (at most ${percent(mostOfAll)}), asked or refused: ${percent(asked(runs))}`,
    `Output not compared, because it differs between two bare runs, or reports the sandbox: ${runs.filter(({ outputVaries }) => outputVaries).length}`,
  ];
  const head = ["needs", "commands", ...outcomes].map((name, index) => cell(name, index)).join("");
  return {
    text: `${[head, ...rows, ...shares].join("\n")}\n`,
    isMet: loud(local) <= mostLocal && loud(runs) <= mostOfAll,
  };
}

const outcomes = ["quiet", "different", "asked", "refused", "not installed"] as const;

function row(name: string, runs: readonly QuietRun[]): string {
  const counts = outcomes.map((wanted) => runs.filter(({ outcome }) => outcome === wanted).length);
  return [name, String(runs.length), ...counts.map(String)].map((text, index) => cell(text, index)).join("");
}

function cell(text: string, index: number): string {
  return index === 0 ? text.padEnd(30) : text.padStart(15);
}

function loud(runs: readonly QuietRun[]): number {
  return share(runs, ({ outcome }) => outcome !== "quiet");
}

function asked(runs: readonly QuietRun[]): number {
  return share(runs, ({ outcome }) => outcome === "asked" || outcome === "refused");
}

/** Of those whose program is installed. */
function share(runs: readonly QuietRun[], matches: (run: QuietRun) => boolean): number {
  const installed = runs.filter(({ outcome }) => outcome !== "not installed");
  return installed.filter(matches).length / Math.max(1, installed.length);
}

function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`;
}
