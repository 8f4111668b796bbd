import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test, vi } from "vitest";
import { harmOf } from "./look/harm.ts";
import { grammarRuns } from "./runs/grammar-runs.ts";
import { kills } from "./runs/kills.ts";
import { meanwhile } from "./runs/meanwhile.ts";
import { quietRuns } from "./runs/quiet-runs.ts";
import { type CorpusCommand, loadCommands, sampleOf } from "./runs/run-commands.ts";

const seed = Number(process.env["GENNAI_EFFECTS_SEED"] ?? Date.now() % 1_000_000);

/** How many of a corpus are run: all of it without a number. */
function chosen(corpus: "hostile" | "everyday", count = Number.POSITIVE_INFINITY): readonly CorpusCommand[] {
  return sampleOf(loadCommands(corpus), count, seed);
}

export function testHostile(timeout: number, count?: number): void {
  test(`hostile commands do no harm, and some of them run (seed ${seed})`, { timeout }, async () => {
    await using home = await temporaryDirectory();
    vi.stubEnv("HOME", home.root);
    const outcomes: string[] = [];
    const commands = chosen("hostile", count);
    expect(await harmOf(commands, ({ outcome }) => outcomes.push(outcome))).toEqual([]);
    expect(outcomes).toHaveLength(commands.length);
    expect(outcomes).toContain("ran");
  });
}

export function testEveryday(timeout: number, count?: number): void {
  test(`everyday commands ask nothing, and do what they do bare (seed ${seed})`, { timeout }, async () => {
    await using home = await temporaryDirectory();
    vi.stubEnv("HOME", home.root);
    const runs = await quietRuns(chosen("everyday", count));
    // Fetching a program that is not installed is asked about, and some everyday commands are against the rules wherever they run
    // (`git restore FILE`, `curl … | sh`): how many of these a sample has, is chance.
    const isOfRules = (why: readonly string[]) =>
      why.length > 0 && why.every((rule) => /network\/connection|^floor\/|^git-changes\//.test(rule));
    const isQuiet = ({ outcome, why }: (typeof runs)[number]) =>
      outcome === "quiet" ||
      outcome === "not installed" ||
      ((outcome === "asked" || outcome === "refused") && isOfRules(why));
    const loud = runs.filter((run) => !isQuiet(run));
    const shown = loud.map(({ command, outcome, why }) => `${command}: ${outcome}, ${why.join("; ")}`).join("\n");
    expect(loud.length, shown).toBeLessThanOrEqual(Math.max(2, Math.floor(runs.length / 8)));
    expect(runs.filter(({ outcome }) => outcome === "quiet").length).toBeGreaterThan(runs.length / 3);
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
