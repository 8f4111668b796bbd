import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runCommandLine } from "@gennai/cli/command-line";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { loopbackService } from "../loopback-service.ts";
import { bash, fetched, leavesNothing, project, type Step } from "./attempt-project.ts";

const three = [
  [bash("echo 1 > value.txt")],
  [bash("echo 2 > value.txt; seq 9 > more.txt; git add -A; git -c user.name=a -c user.email=a@b commit -qm done")],
  [bash("echo 2 > value.txt"), bash("echo and more >> mine.txt")],
];

test("of three attempts the one whose check passes with fewer lines is offered, and the others can be taken", async () => {
  await using place = await project(three);
  const { repository, run } = place;
  const head = await repository.git("rev-parse", "HEAD");
  const { code, out, err } = await run(...place.request, "set the value");
  expect({ code, err }).toEqual({ code: 3, err: "" });
  expect(out).toMatch(
    /attempt 3 {2}check passed {2,}2 files, \+2 -1\n {2}attempt 2 {2}check passed {2,}2 files, \+10 -1\n {2}attempt 1 {2}check failed/,
  );
  expect(out).toContain("+and more\n");
  // Nobody could be asked: nothing is written, no branch is made, nothing is left.
  expect(await repository.read("value.txt")).toBe("0\n");
  expect(await repository.git("branch", "--format", "%(refname:short)")).toBe("main");
  expect(place.left()).toEqual([]);

  const shown = await run("attempts", "show", "1");
  expect(shown.out).toContain("attempt 1  check failed");
  expect(shown.out).toContain("-0\n+1\n");
  expect(shown.out).toContain("secret: false");
  const taken = await run("attempts", "take", "2", "--yes");
  expect(taken).toMatchObject({
    code: 0,
    out: expect.stringContaining("Applied 2 of 2 hunks to more.txt, value.txt.\nUndo it: gennai undo\n") as string,
  });
  expect([await repository.read("value.txt"), existsSync(repository.path("more.txt"))]).toEqual(["2\n", true]);
  // Its files, and not its commit.
  expect(await repository.git("rev-parse", "HEAD")).toBe(head);
  // Another one changes the same line, and cannot be kept any more.
  expect(await run("attempts", "take", "1", "--yes")).toMatchObject({
    code: 1,
    err: expect.stringContaining("value.txt changed since the proposal was made") as string,
  });
  expect((await run("undo")).code).toBe(0);
  expect([await repository.read("value.txt"), existsSync(repository.path("more.txt"))]).toEqual(["0\n", false]);
  expect((await run("attempts", "drop")).out).toBe("Dropped 1.\n");
  expect((await run("attempts", "list", "--json")).out).toBe("");
});

test("--yes keeps the best, budgets hold over all attempts together, and a purge forgets them all", async () => {
  const counted = (tokens: number, steps: readonly Step[]): readonly Step[] => [
    ...steps,
    { usage: { input_tokens: tokens, output_tokens: 1 } },
  ];
  await using place = await project([
    counted(40_000, [bash("echo 2 > value.txt")]),
    counted(10, [bash("echo 4 > value.txt")]),
  ]);
  const { code, out } = await place.run(
    ...[...place.request, "--yes", "--json", "--parallel", "1", "--max-session-tokens", "60000", "set PLANTED-17"],
  );
  expect(code).toBe(0);
  const { result } = JSON.parse(out) as {
    readonly result: {
      readonly best: number;
      readonly kept: readonly string[];
      readonly attempts: readonly { readonly number: number; readonly outcome: string }[];
    };
  };
  expect(result).toMatchObject({ best: 2, kept: ["value.txt"] });
  // Each has half of what is allowed: 40,000 tokens are more than that.
  expect(result.attempts.map(({ number, outcome }) => [number, outcome])).toEqual([
    [2, "completed"],
    [1, "error"],
  ]);
  expect(await place.repository.read("value.txt")).toBe("4\n");
  expect(place.left()).toEqual([]);

  const state = place.state.path("state");
  const holding = () =>
    readdirSync(state, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => readFileSync(file).includes("PLANTED-17"));
  expect(holding()).not.toEqual([]);
  expect((await place.run("ledger", "purge", "--yes")).out).toMatch(/^Purged 3 sessions/);
  expect(holding()).toEqual([]);
  expect((await place.run("attempts", "list", "--json")).out).toBe("");
});

test("an attempt that makes its copy lead elsewhere brings nothing of that into the workspace", async () => {
  await using outside = await temporaryDirectory({ "check.mjs": "hunter2\n", "dep.js": "hunter2\n" });
  const lead = `mkdir -p sub && rm -rf node_modules && ln -s ${outside.root} node_modules && ln -s ${outside.root} led`;
  await using place = await project([[bash(`${lead}; echo 9 > value.txt`)], []]);
  const { out } = await place.run(...place.request, "--yes", "go elsewhere");
  expect(out).not.toContain("hunter2");
  expect(await place.repository.read("node_modules/dep.js")).toBe("1\n");
  expect(existsSync(place.repository.path("led"))).toBe(false);
  const kept = await place.repository.git("status", "--porcelain");
  expect(kept).not.toContain("led");
});

test("what attempts want to reach is asked about in turn, each question with the number of its attempt; no is a no to that one", async () => {
  using served = await loopbackService({ "/one": "2\n", "/two": "3\n" });
  await using place = await project([[fetched("one", served.port)], [fetched("two", served.port)]]);
  const console = place.consoleHere();
  const done = runCommandLine([...place.request, "--ask", "--parallel", "2", "fetch the value"], console);
  const said = () => console.printed() + console.complained();
  const asked = () => said().split("y yes").length - 1;
  const answers = new Map<string, string>();
  for (const number of [1, 2]) {
    await expect.poll(asked).toBe(number);
    const attempts = [...said().matchAll(/^(\d) │ .*Let curl reach 127\.0\.0\.1:\d+\?/gm)];
    const attempt = attempts.at(-1)?.[1] ?? "";
    answers.set(attempt, attempt === "1" ? "n" : "y");
    console.input.write(`${answers.get(attempt)}\n`);
  }
  expect(answers.size).toBe(2);
  await expect.poll(said).toContain("[y/n/e/a/d/q]");
  expect(console.printed()).toMatch(/attempt 2 {2}check passed/);
  console.input.write("a\n");
  expect(await done).toBe(0);
  expect(await place.repository.read("value.txt")).toBe("3\n");
  expect(served.asked).toEqual(["/two"]);
});

test("what cannot be tried is refused before anything is copied", async () => {
  await using place = await project([[], []]);
  for (const wrong of ["--attempts 1", "--attempts 9", "--resume x", "--continue", "--mode plan", "--allow nowhere"]) {
    expect([wrong, (await place.run(...place.request, ...wrong.split(" "), "x")).code]).toEqual([wrong, 2]);
  }
  expect(place.left()).toEqual([]);
});

test("a SIGKILL in the middle leaves nothing", () => leavesNothing("SIGKILL"));
