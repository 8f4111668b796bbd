import { oneAfterTheOther, raceJobs } from "@gennai/testkit/race-jobs";
import { expect, test } from "vitest";
import { SubAgentSeats } from "#turn/task-tools";

const { signal } = new AbortController();

test("who comes later waits for a seat, in order, and a failure frees one", async () => {
  const seats = new SubAgentSeats({ atOnce: 1, inAll: 4 });
  expect(await raceJobs((job) => seats.take(job, { signal }))).toEqual(oneAfterTheOther);
  await expect(seats.take(async () => undefined, { signal })).rejects.toMatchObject({ code: "too_many_sub_agents" });
});

test("no more than there are seats work at once, and who is stopped while waiting never begins", async () => {
  const seats = new SubAgentSeats({ atOnce: 2, inAll: 4 });
  const held = Promise.withResolvers<void>();
  const begun: number[] = [];
  const stop = new AbortController();
  const taken = [1, 2, 3, 4].map((number) =>
    seats.take(
      async () => {
        begun.push(number);
        await held.promise;
      },
      { signal: number === 3 ? stop.signal : signal },
    ),
  );
  stop.abort();
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toEqual([1, 2]);
  held.resolve();
  const ends = await Promise.allSettled(taken);
  expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
  expect(begun).toEqual([1, 2, 4]);
});
