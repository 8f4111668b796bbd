import { spawn } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { runCommandLine } from "@gennai/cli/command-line";
import { builtProgram } from "@gennai/testkit/built-program";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { describe, expect, test } from "vitest";
import { testConsole } from "../../../../packages/cli/test/test-console.ts";
import { loopbackService } from "../loopback-service.ts";

const program = builtProgram(new URL("../../../../packages/cli/src/main.ts", import.meta.url));

/** Passes for a value from 2 on. What git ignores is there, and a secret is not. */
const check = `import fs from "node:fs";
console.log("secret:", fs.existsSync(".env"));
if (!fs.existsSync("node_modules/dep.js") || Number(fs.readFileSync("value.txt", "utf8")) < 2) process.exit(1);
`;

type Step = Readonly<Record<string, unknown>>;

function bash(command: string): Step {
  return { tool: { name: "Bash", args: { command } } };
}

/** A repository beside nothing else, and a script for each attempt. */
async function project(scripts: readonly (readonly Step[])[]) {
  await using parts = new AsyncDisposableStack();
  const state = parts.use(await temporaryDirectory());
  const repository = parts.use(
    await temporaryRepository({ "value.txt": "0\n", "check.mjs": check, ".gitignore": "node_modules\n.env\n" }),
  );
  await repository.write("node_modules/dep.js", "1\n");
  await repository.write(".env", "KEY=hunter2\n");
  // Not committed: attempts begin with what the user has.
  await repository.write("mine.txt", "mine\n");
  const models = scripts.map((steps, index) => {
    const file = state.path(`script-${index + 1}.yaml`);
    writeFileSync(file, JSON.stringify({ turns: [{ steps: [...steps, { text: "Done." }] }] }));
    return ["--attempt-model", file];
  });
  const environment = { ...process.env, GENNAI_STATE_DIR: state.path("state"), NO_COLOR: "1" };
  const request = [
    ...["run", "--attempts", String(scripts.length), "--backend", "scripted", "--check", "node check.mjs"],
    ...models.flat(),
  ];
  const run = async (...args: readonly string[]) => {
    const console = testConsole(repository.root, environment);
    const code = await runCommandLine(args, console);
    return { code, out: console.printed(), err: console.complained() };
  };
  /** Directories beside the workspace, and stages: nothing, when all has ended. */
  const left = (): readonly string[] => {
    const [parent, name] = [dirname(repository.root), basename(repository.root)];
    const beside = readdirSync(parent).filter((entry) => entry.startsWith(".gennai-attempts-"));
    const own = beside.filter((entry) => existsSync(join(parent, entry, "base", name)));
    const stages = join(state.path("state"), "stages");
    return [...own, ...(existsSync(stages) ? readdirSync(stages) : [])];
  };
  const consoleHere = () => testConsole(repository.root, environment);
  const owned = parts.move();
  return {
    consoleHere,
    repository,
    state,
    environment,
    request,
    run,
    left,
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

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
  const taken = await run("attempts", "take", "2", "--keep");
  expect(taken).toMatchObject({
    code: 0,
    out: expect.stringContaining("Attempt 2: all of it is in the workspace now.") as string,
  });
  expect([await repository.read("value.txt"), existsSync(repository.path("more.txt"))]).toEqual(["2\n", true]);
  // Its files, and not its commit.
  expect(await repository.git("rev-parse", "HEAD")).toBe(head);
  // Another one does not fit any more.
  expect(await run("attempts", "take", "1", "--keep")).toMatchObject({
    code: 1,
    err: expect.stringContaining("value.txt: it is not as it was when the copy was made") as string,
  });
  expect((await run("undo", "--kept")).out).toBe("Took back: attempt 2 of “set the value”\n");
  expect([await repository.read("value.txt"), existsSync(repository.path("more.txt"))]).toEqual(["0\n", false]);
  expect((await run("ledger", "show")).out).toMatch(/review {4}attempt “attempt 2 of “set the value””: 2 kept/);
  expect((await run("attempts", "drop")).out).toBe("Dropped 1.\n");
  expect((await run("attempts", "list", "--json")).out).toBe("");
});

test("--yes keeps the best, and budgets hold over all attempts together", async () => {
  const counted = (tokens: number, steps: readonly Step[]): readonly Step[] => [
    ...steps,
    { usage: { input_tokens: tokens, output_tokens: 1 } },
  ];
  await using place = await project([
    counted(40_000, [bash("echo 2 > value.txt")]),
    counted(40_000, [bash("echo 3 > value.txt")]),
    counted(10, [bash("echo 4 > value.txt")]),
  ]);
  const { code, out } = await place.run(
    ...[...place.request, "--yes", "--json", "--parallel", "1", "--max-session-tokens", "60000", "set the value"],
  );
  expect(code).toBe(0);
  const { result } = JSON.parse(out) as {
    readonly result: {
      readonly best: number;
      readonly kept: readonly string[];
      readonly attempts: readonly { readonly number: number; readonly outcome: string }[];
    };
  };
  expect(result).toMatchObject({ best: 3, kept: ["value.txt"] });
  // Each has a third of what is allowed: 40,000 tokens are more than that.
  expect(result.attempts.map(({ number, outcome }) => [number, outcome])).toEqual([
    [3, "completed"],
    [1, "error"],
    [2, "error"],
  ]);
  expect(await place.repository.read("value.txt")).toBe("4\n");
  expect(place.left()).toHaveLength(1);
});

test("in Proposal Mode the best becomes the session's proposal, which is reviewed", async () => {
  await using place = await project([[bash("echo 2 > value.txt; seq 20 > more.txt")], [bash("echo 2 > value.txt")]]);
  const { repository, run } = place;
  const unasked = await run(...place.request, "--mode", "proposal", "set the value");
  expect(unasked).toMatchObject({ code: 3, err: "" });
  expect(unasked.out).toContain("Proposed: 1 file, 1 hunk. Nothing is written yet.");
  expect(await repository.read("value.txt")).toBe("0\n");
  const kept = await run(...place.request, "--mode", "proposal", "--yes", "set the value");
  expect(kept.code).toBe(0);
  expect(kept.out).toContain("Applied 1 of 1 hunk to value.txt.");
  expect([await repository.read("value.txt"), existsSync(repository.path("more.txt"))]).toEqual(["2\n", false]);
  expect(place.left()).toEqual([]);
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

describe("what attempts want to reach", () => {
  const fetched = (path: string, port: number) =>
    bash(`curl -sS --max-time 20 http://127.0.0.1:${port}/${path} -o value.txt`);

  test("is let through by --allow, for the check as well", async () => {
    using served = await loopbackService({ "/one": "2\n", "/two": "3\n" });
    using other = await loopbackService({ "/three": "4\n" });
    await using place = await project([[fetched("one", served.port)], [fetched("three", other.port)]]);
    const reached = `curl -sS --max-time 20 http://127.0.0.1:${served.port}/check && node check.mjs`;
    const { out } = await place.run(
      ...[...place.request, "--check", reached, "--allow", `127.0.0.1:${served.port}`, "fetch the value"],
    );
    expect(out).toMatch(/attempt 2 .*nothing changed/);
    expect(out).toMatch(/attempt 1 {2}check passed/);
    expect(out).toContain("1 │   approved by --allow");
    // Nobody is there who could be asked about the other one.
    expect(other.asked).toEqual([]);
    expect(served.asked).toEqual(expect.arrayContaining(["/one", "/check"]));
  });

  test("is asked about in turn, each question with the number of its attempt; no is a no to that one", async () => {
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
    await expect.poll(said).toContain("Keep it?");
    expect(console.printed()).toMatch(/attempt 2 {2}check passed/);
    console.input.write("all\n");
    expect(await done).toBe(0);
    expect(await place.repository.read("value.txt")).toBe("3\n");
    expect(served.asked).toEqual(["/two"]);
  });
});

test("where no attempt changes anything, that is said", async () => {
  await using place = await project([[], []]);
  const { code, out } = await place.run(...place.request, "do nothing");
  expect(code).toBe(1);
  expect(out).toContain("attempt 1  not checked   nothing changed");
});

test.each([
  ["--attempts", "1"],
  ["--attempts", "9"],
  ["--session", "x"],
  ["--mode", "plan"],
  ["--allow", "nowhere"],
])("%s %s is refused before anything is copied", async (...wrong) => {
  await using place = await project([[], []]);
  const { code } = await place.run(...place.request, ...wrong, "x");
  expect(code).toBe(2);
  expect(place.left()).toEqual([]);
});

test.each([
  ["SIGINT", 130],
  ["SIGKILL", undefined],
] as const)("%s in the middle leaves nothing", async (signal, code) => {
  await using place = await project([[bash("echo 2 > value.txt; echo here; sleep 60")], [bash("sleep 60")]]);
  const child = spawn(process.execPath, [program, ...place.request, "wait"], {
    cwd: place.repository.root,
    env: place.environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += String(chunk)));
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  await expect.poll(() => said).toContain("here");
  expect(place.left()).not.toEqual([]);
  child.kill(signal);
  const exit = await ended;
  if (code !== undefined) expect(exit).toBe(code);
  expect(await place.repository.read("value.txt")).toBe("0\n");
  // What a killed one left goes with the next command that has to do with it.
  if (code === undefined) {
    const { out } = await place.run("attempts", "list");
    expect(out.match(/attempt \d .* interrupted: It was broken off: the server ended/g)).toHaveLength(2);
    expect((await place.run("try", "true")).code).toBe(0);
  }
  expect(place.left()).toEqual([]);
});
