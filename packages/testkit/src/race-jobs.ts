/** What `raceJobs` resolves with where one job at a time runs, in the order of the calls, and a failure is its own job's alone. */
export const oneAfterTheOther = [
  "1 begins",
  "1 ends",
  "2 begins",
  "2 fails",
  "3 begins",
  "3 ends",
  "4 begins",
  "4 ends",
];

/**
 * Starts four jobs at once, of which the first take longest and the second fails: without a queue the later ones would be faster.
 * Resolves with what they did, in the order in which they did it, when all calls have ended, however they ended.
 *
 * @param start what runs the job, once, as the part of its work that takes time
 */
export async function raceJobs(
  start: (job: () => Promise<void>, number: number) => Promise<unknown>,
): Promise<readonly string[]> {
  const done: string[] = [];
  const jobOf = (number: number) => async (): Promise<void> => {
    done.push(`${number} begins`);
    for (let turns = 20 - 4 * number; turns > 0; turns -= 1) await new Promise((resolve) => setImmediate(resolve));
    done.push(`${number} ${number === 2 ? "fails" : "ends"}`);
    if (number === 2) throw new Error("Job 2 fails.");
  };
  await Promise.allSettled([1, 2, 3, 4].map((number) => start(jobOf(number), number)));
  return done;
}
