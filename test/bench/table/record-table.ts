import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import { cellsOf, titles } from "./print-table.ts";
import type { Reading } from "./reading.ts";

const page = fileURLToPath(new URL("../../../docs/performance.md", import.meta.url));

/**
 * Replaces the readings in `docs/performance.md`, with the date, the machine and the commit.
 *
 * @param options.group with its own table; empty for all others together
 */
export function recordTable(
  readings: readonly Reading[],
  { full, group }: { readonly full: boolean; readonly group: string },
): void {
  const text = readFileSync(page, "utf8");
  const begin = `### The newest table${group === "" ? "" : ` of ${group}`}\n`;
  const from = text.indexOf(begin);
  const to = text.indexOf("\n### ", from + begin.length) + 1;
  if (from === -1 || to === 0) throw new Error(`${page} has no place for the table: put both headings there.`);
  const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8" }).trim();
  const changed = git("status", "--porcelain", "--", "packages", "test/bench") === "" ? "" : ", with changes";
  const [cpu] = cpus();
  const load = loadavg()[0] ?? 0;
  const cores = cpus().length;
  const machine = `${cores} x ${cpu?.model.trim() ?? "?"}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform}`;
  const busy = load > cores ? `, **others worked on it: load ${load.toFixed(0)}**` : `, load ${load.toFixed(1)}`;
  const what = `${new Date().toISOString().slice(0, 10)}, commit ${git("rev-parse", "--short=8", "HEAD")}${changed}, ${full ? "full" : "quick"}.`;
  const where = `Node ${process.versions.node}, ${machine}${busy}.`;
  const rows = [titles, titles.map((_, column) => (column === 0 ? "---" : "--:")), ...readings.map(cellsOf)];
  const lines = rows.map((cells) => `| ${cells.map((cell) => cell.trim()).join(" | ")} |`);
  writeFileSync(page, `${text.slice(0, from)}${begin}\n${what} ${where}\n\n${lines.join("\n")}\n\n${text.slice(to)}`);
}
