import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test, vi } from "vitest";
import { sampleOf, seed } from "../../scripts/lib/tests/sample.mjs";
import { harmOf } from "./look/harm.ts";
import { grammarRuns } from "./runs/grammar-runs.ts";
import { kills } from "./runs/kills.ts";
import { meanwhile } from "./runs/meanwhile.ts";
import { quietRuns } from "./runs/quiet-runs.ts";
import { type CorpusCommand, loadCommands } from "./runs/run-commands.ts";

/** How many of a corpus are run: all of it without a number. */
function chosen(corpus: "hostile" | "everyday", count = Number.POSITIVE_INFINITY): readonly CorpusCommand[] {
  return sampleOf(loadCommands(corpus), count);
}

export function testHostile(timeout: number, count?: number): void {
  test(`hostile commands do no harm, and what would be harm is seen (seed ${seed})`, { timeout }, async () => {
    await using home = await temporaryDirectory();
    vi.stubEnv("HOME", home.root);
    const outcomes: string[] = [];
    const shown = { id: "shown", class: "", command: "echo C A N A R Y - 9 f 8 e 7 d 6 c 5 b 4 a" };
    const commands = [...chosen("hostile", count), shown];
    expect(await harmOf(commands, ({ outcome }) => outcomes.push(outcome))).toEqual([
      { id: shown.id, command: shown.command, what: "a secret was shown" },
    ]);
    expect(outcomes).toHaveLength(commands.length);
    expect(outcomes.at(-1)).toBe("ran");
  });
}

export function testEveryday(timeout: number, count?: number): void {
  test(`everyday commands ask nothing and do what they do bare; what a bare run does otherwise is seen (seed ${seed})`, {
    timeout,
  }, async () => {
    await using home = await temporaryDirectory();
    vi.stubEnv("HOME", home.root);
    // The stage is a mount of its own, and a bare run is not on one.
    const command = "findmnt -no FSTYPE --target . > src/mount.txt; cat src/mount.txt; grep -q overlay src/mount.txt";
    const alike = { id: "alike", class: "", command: "printf 'b\\na\\n' > src/list.txt; sort src/list.txt" };
    const checks = [{ id: "other", class: "", command }, alike];
    const [other, same, ...runs] = await quietRuns([...checks, ...chosen("everyday", count)]);
    expect(other).toMatchObject({ outcome: "different" });
    expect(same).toMatchObject({ outcome: "quiet" });
    expect(other?.why.join()).toMatch(/exit code 0 and not 1.*output "overlay".*effect src\/mount.txt/);
    // Fetching a program that is not installed is asked about, and some everyday commands are against the rules wherever they run
    // (`curl … | sh`), or here (`git restore FILE` of a changed file): how many of these a sample has, is chance.
    const isOfRules = (why: readonly string[]) =>
      why.length > 0 &&
      why.every((rule) => /network\/connection|^floor\/|^git-changes\/|^found\/thrown-away$/.test(rule));
    const isQuiet = ({ outcome, why }: (typeof runs)[number]) =>
      outcome === "quiet" ||
      outcome === "not installed" ||
      ((outcome === "asked" || outcome === "refused") && isOfRules(why));
    const loud = runs.filter((run) => !isQuiet(run));
    const shown = loud.map(({ command, outcome, why }) => `${command}: ${outcome}, ${why.join("; ")}`).join("\n");
    expect(loud.length, shown).toBeLessThanOrEqual(Math.max(2, Math.floor(runs.length / 8)));
  });
}

export function testGrammar(timeout: number, rounds: number): void {
  test(`nothing of the small closed grammar writes, starts a program or shows a secret (seed ${seed})`, {
    timeout,
  }, async () => {
    const ran: string[] = [];
    const onRound = (command: string, runs: boolean): void => void (runs && ran.push(command));
    expect(await grammarRuns({ rounds, seed, onRound })).toEqual([]);
    expect(ran.length).toBeGreaterThan(rounds / 50);
    expect(ran.some((command) => command.includes("git "))).toBe(true);
  });
}

export function testKills(timeout: number, rounds: number): void {
  test(`a server killed around commits leaves the tree as before or as after (seed ${seed})`, { timeout }, async () => {
    const hits: string[] = [];
    await kills({ rounds, seed, onRound: (_round, hit) => hits.push(hit) });
    expect(hits.join()).toContain("in the commit");
  });
}

export function testMeanwhile(timeout: number, rounds: number): void {
  test(`nothing is lost of a user who works beside staged commands (seed ${seed})`, { timeout }, async () => {
    const hits: string[] = [];
    await meanwhile({ rounds, seed, onRound: (_round, hit) => hits.push(hit) });
    expect(hits.join()).toContain(": kept");
    expect(hits.join()).toContain(": not kept");
  });
}
