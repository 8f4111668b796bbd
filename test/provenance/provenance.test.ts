import { SeededRandom } from "@gennai/testkit/seeded-random";
import { temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { generatedHistory } from "./generated-history.ts";
import { gitHistory } from "./git-history.ts";
import { measure } from "./measure.ts";
import { measuredTable } from "./measured-table.ts";
import { linesOf, replayHistory, type TruthLine } from "./replayed-history.ts";

// The same measuring as `npm run provenance`, on a history that is made here.
test("names of lines hold through 250 random transformations of a generated history", () => {
  const random = new SeededRandom(20261125);
  const history = replayHistory(generatedHistory(random, 120), { recorded: 0.6, random });
  const measured = measure(history, { count: 250, seed: 7 });
  const { table, holds } = measuredTable([measured]);
  expect(measured.all.origin, table).toBeGreaterThan(3_000);
  expect(measured.all.unique, table).toBeGreaterThan(1_000);
  expect(measured.all.uniqueWrong, table).toBe(0);
  expect(holds, table).toBe(true);
});

test("a wrong name, and a name for what a person wrote, count against it", () => {
  const line = (text: string, writes: TruthLine["writes"]): TruthLine => ({ text, writes });
  const texts = Array.from({ length: 12 }, (_, at) => `const someName${at} = ${at};`);
  const lines = texts.map((text, at) => line(text, at < 6 ? [1] : null));
  const known = {
    match: () => texts.map(() => ({ type: "write", write: 2, method: "same-lines", confidence: 1 }) as const),
  };
  const history = {
    known,
    files: new Map([["a.js", lines]]),
    formerNames: new Map<string, ReadonlySet<string>>(),
    brought: new Map<string, number>(),
    pieces: new Map<number, readonly string[]>(),
  };
  const { all } = measure(history, { count: 3, seed: 1 });
  expect(all.uniqueWrong + all.commonWrong).toBe(all.unique + all.common);
  expect(measuredTable([{ all, byName: new Map(), byMethod: new Map() }])).toMatchObject({ holds: false });
});

test("a repository's first-parent commits are played oldest first, with what they found", async () => {
  await using repository = await temporaryRepository({ "a.txt": "one\n" });
  await repository.write("a.txt", "one\ntwo\n");
  await repository.write("b.bin", new Uint8Array([0, 1]));
  await repository.git("add", "--all");
  await repository.git("commit", "--quiet", "--message", "second");
  const steps = await gitHistory(repository.path(".git"), 10);
  expect(steps).toEqual([
    { commit: 1, path: "a.txt", before: undefined, after: "one\n" },
    { commit: 2, path: "a.txt", before: "one\n", after: "one\ntwo\n" },
  ]);
  const { files } = replayHistory(steps, { recorded: 1, random: new SeededRandom(1) });
  expect(files.get("a.txt")).toEqual([
    { text: "one", writes: [1] },
    { text: "two", writes: [2] },
  ]);
  expect(linesOf("a\r\nb\r\n")).toEqual(["a", "b"]);
});
