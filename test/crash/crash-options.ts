/** How long a crash test goes on, and with which luck. The same seed kills after the same waits. */
export interface CrashOptions {
  readonly rounds: number;
  readonly seed: number;
  /** Told after every round, with what the kill hit, in a few words. */
  readonly onRound?: (round: number, hit: string) => void;
}

/** What the environment asks for (`GENNAI_CRASH_ROUNDS`, `GENNAI_CRASH_SEED`), else a short run with a seed of the day. */
export function crashOptions(shortRun: number): CrashOptions {
  return {
    rounds: positive(process.env["GENNAI_CRASH_ROUNDS"]) ?? shortRun,
    seed: positive(process.env["GENNAI_CRASH_SEED"]) ?? (Date.now() % 2_147_483_647) + 1,
  };
}

export function positive(text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new RangeError(`${text} is not a number of 1 or more.`);
  return number;
}

/** Numbers from 0 up to 1 that follow from the seed (Park and Miller's generator). */
export function randomNumbers(seed: number): () => number {
  let state = seed % 2_147_483_647 || 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return (state - 1) / 2_147_483_646;
  };
}
