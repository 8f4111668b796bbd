import { oneAfterTheOther, raceJobs } from "@gennai/testkit/race-jobs";
import { expect, test } from "vitest";
import { OneByOne } from "#one-by-one";

test("work for one key goes one after the other, also after a failure", async () => {
  const lines = new OneByOne<string>();
  expect(await raceJobs((job) => lines.run("key", job))).toEqual(oneAfterTheOther);
  expect(lines.size).toBe(0);
});

test("work for other keys waits for nobody, and a key without work takes no room", async () => {
  const lines = new OneByOne<object>();
  const first = Promise.withResolvers<string>();
  const [one, other] = [{}, {}];
  const waiting = lines.run(one, () => first.promise);
  expect(await lines.run(other, async () => "done")).toBe("done");
  expect(lines.size).toBe(1);
  first.resolve("late");
  expect(await waiting).toBe("late");
  expect(lines.size).toBe(0);
});
