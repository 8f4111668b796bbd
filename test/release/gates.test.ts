import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { filesUnderWay } from "../../release/gates/files-under-way.ts";
import { type Findings, type Gate, runGate } from "../../release/gates/gate.ts";
import { gatesNamed, releaseGates } from "../../release/gates/release-gates.ts";
import { signatureGate } from "../../release/gates/signature-gate.ts";
import { Steps } from "../../release/gates/steps.ts";
import { judge, testGate } from "../../release/gates/test-gate.ts";
import { testGates } from "../../release/gates/test-gates.ts";
import { runGates } from "../../release/run-gates.ts";
import { gateNames, root, smallRelease } from "./small-release.ts";

let scratch: string;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), "gennai-gates-test-"));
});
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

const context = () => ({ root, directory: scratch, version: "1.2.3", publicKey: "", scratch });
const sound: Findings = { passed: 1, failed: 0, skipped: 0, evidence: ["seen"], output: "all" };
const gate = (run: Gate["run"], timeoutMs = 5_000): Gate => ({ name: "smoke", title: "It works.", timeoutMs, run });
const quiet = { print: () => undefined, signal: new AbortController().signal };

describe("seed 003 §11 gates: a gate", () => {
  it("passes with evidence, and keeps the digest of all that was written", async () => {
    const { result, output } = await runGate(
      gate(async () => sound),
      context(),
      quiet,
    );
    expect(result).toMatchObject({ name: "smoke", result: "passed", reason: "", evidence: ["seen"] });
    expect([result.counts, output]).toEqual([{ passed: 1, failed: 0, skipped: 0 }, "all"]);
    expect(result.output_sha256).toBe("5ef5ef0364b6939c4ca61f34b393f7b368d1be8619647aaf83d5b395919ab629");
  });

  const failing: readonly (readonly [string, Gate["run"], string])[] = [
    ["finds a failure", async () => ({ ...sound, failed: 1 }), "1 failed."],
    ["leaves something out", async () => ({ ...sound, skipped: 2 }), "2 were left out."],
    ["looks at nothing", async () => ({ ...sound, passed: 0 }), "It looked at nothing."],
    ["counts what is not a number", async () => ({ ...sound, passed: Number.NaN }), "It looked at nothing."],
    ["shows nothing", async () => ({ ...sound, evidence: [] }), "It shows no evidence."],
    ["rejects", () => Promise.reject(new Error("gone")), "It broke: gone"],
    [
      "throws before it begins",
      () => {
        throw new TypeError("no");
      },
      "It broke: no",
    ],
    ["throws what is not an error", () => Promise.reject("text"), "It broke: text"],
    [
      "has a step that does not hold",
      async () => {
        const steps = new Steps(() => undefined);
        await steps.check("first", () => "fine");
        await steps.check("second", () => Promise.reject(new Error("broken")));
        return steps.findings();
      },
      "second: broken",
    ],
  ];
  it.each(failing)("fails when it %s", async (_name, run, reason) => {
    const { result } = await runGate(gate(run), context(), quiet);
    expect([result.result, result.reason]).toEqual(["failed", reason]);
  });

  it.each([
    ["goes on for ever", () => new Promise<Findings>(() => undefined)],
    [
      "stops when it is told to, and says that all is well",
      async (_context: unknown, { signal }: { readonly signal: AbortSignal }) => {
        await delay(60_000, undefined, { signal }).catch(() => undefined);
        return sound;
      },
    ],
  ])("fails when its time is over and it %s", async (_name, run) => {
    const { result } = await runGate(gate(run, 50), context(), quiet);
    expect([result.result, result.reason]).toEqual(["failed", "It did not end within 0.05 s."]);
  });

  it("says what it is doing, while it runs and when its time is over", async () => {
    const lines: string[] = [];
    const waiting: Gate["run"] = async ({ doing }, { signal }) => {
      doing(() => "waiting for a server");
      await delay(60_000, undefined, { signal });
      return sound;
    };
    const run = { ...quiet, print: (line: string) => void lines.push(line), tellEveryMs: 40 };
    const { result } = await runGate(gate(waiting, 500), context(), run);
    expect(lines[0]).toBe("    0 of at most 0.5 s: waiting for a server");
    expect(result.reason).toBe("It did not end within 0.5 s. It was doing this: waiting for a server");
  });

  it("stops when the run of the gates is interrupted", async () => {
    const { result } = await runGate(
      gate(async (_context, { signal }) => delay(60_000, sound, { signal })),
      context(),
      { ...quiet, signal: AbortSignal.abort() },
    );
    expect([result.result, result.reason]).toEqual(["failed", "It was stopped."]);
  });

  it("keeps the evidence from before a step that does not hold", async () => {
    const { result } = await runGate(
      gate(failing.at(-1)?.[1] ?? (() => Promise.reject(new Error()))),
      context(),
      quiet,
    );
    expect([result.evidence, result.counts]).toEqual([["first: fine"], { passed: 1, failed: 1, skipped: 0 }]);
  });
});

describe("seed 003 §11 gates: a gate of tests", () => {
  const file = (name: string, ...tests: readonly (readonly [string, string])[]) => ({
    name: join(root, name),
    status: tests.some(([, status]) => status === "failed") ? "failed" : "passed",
    message: "",
    assertionResults: tests.map(([fullName, status]) => ({ fullName, status })),
  });
  const good = file("test/a.test.ts", ["seed 1: holds", "passed"]);
  const options = { code: 0, root, tests: ["test/a.test.ts"], proves: ["seed 1:"] };

  it("passes when all is there and proved", () => {
    expect(judge({ testResults: [good] }, options)).toMatchObject({ passed: 1, failed: 0, skipped: 0 });
  });

  it.each([
    ["a test failed", [good, file("test/b.test.ts", ["x", "failed"])], {}, ["FAILED x"]],
    [
      "a file did not load",
      [good, { ...file("test/b.test.ts"), status: "failed", message: "SyntaxError" }],
      {},
      [`FAILED ${join(root, "test/b.test.ts")} did not run: SyntaxError`],
    ],
    [
      "a named file has no tests",
      [good],
      { tests: ["test/a.test.ts", "test/gone"] },
      ["FAILED test/gone holds no tests"],
    ],
    ["nothing proves a sentence", [good], { proves: ["seed 1:", "seed 2:"] }, ["FAILED nothing proves: seed 2:"]],
    [
      "what proves it was skipped",
      [file("test/a.test.ts", ["seed 1: holds", "skipped"])],
      {},
      ["FAILED nothing proves: seed 1:"],
    ],
    ["the run failed outside of any test", [good], { code: 1 }, ["FAILED vitest ended with 1"]],
    ["there is nothing", [], {}, ["FAILED test/a.test.ts holds no tests", "FAILED nothing proves: seed 1:"]],
  ] as const)("fails when %s", (_name, testResults, changes, against) => {
    const found = judge({ testResults: [...testResults] }, { ...options, ...changes });
    expect(found.evidence.filter((line) => line.startsWith("FAILED"))).toEqual(against);
    expect(found.failed).toBe(against.length);
  });

  it("counts what was skipped", () => {
    const skipped = file("test/b.test.ts", ["x", "skipped"], ["y", "pending"], ["z", "todo"]);
    expect(judge({ testResults: [good, { ...skipped, status: "passed" }] }, options).skipped).toBe(3);
  });

  it("really runs them, and fails when there are none", async () => {
    const facts = { name: "never-do", title: "t", timeoutMs: 50_000, proves: ["seed 003 §4:"] };
    const there = testGate({ ...facts, tests: ["packages/governance/test/policies/risk.test.ts"] });
    const run = async (each: Gate) => (await runGate(each, context(), quiet)).result;
    expect(await run(there)).toMatchObject({ result: "passed" });
    expect(filesUnderWay(join(scratch, "under-way.json"))).toBe("1 of 1 test files have ended; running: none");
    rmSync(join(scratch, "vitest.json"));
    const gone = testGate({ ...facts, tests: ["test/release/no-such.test.ts"] });
    expect(await run(gone)).toMatchObject({ result: "failed" });
  });
});

describe("the gates of a release", () => {
  it("are exactly those that the check demands", () => {
    expect(releaseGates.map(({ name }) => name).sort()).toEqual([...gateNames].sort());
  });

  it("are chosen by name, and a name that none has is refused", () => {
    expect(gatesNamed(undefined)).toEqual(releaseGates);
    expect(gatesNamed(["upgrade", "smoke"]).map(({ name }) => name)).toEqual(["smoke", "upgrade"]);
    expect(() => gatesNamed(["smoke", "smok"])).toThrow("No gate is named smok: signature, whole-run, smoke,");
  });

  it("seed 003 §11 signature: see a file that was changed", async () => {
    using release = await smallRelease();
    const place = { ...context(), directory: release.directory, publicKey: release.key.publicPem };
    const own = mkdtempSync(join(scratch, "gate-"));
    const look = async (at: string) => (await runGate(signatureGate, { ...place, scratch: at }, quiet)).result;
    expect(await look(own)).toMatchObject({ result: "passed" });
    release.provenance((statement) => statement, release.otherKey);
    const result = await look(mkdtempSync(join(scratch, "gate-")));
    expect([result.result, result.reason]).toEqual(["failed", expect.stringContaining("is signed by key")]);
  });

  it("seed 003 §14 release: leave a signed record that refuses the release when one of them fails", async () => {
    using release = await smallRelease();
    const lines: string[] = [];
    const broken = { ...gate(() => Promise.reject(new Error("gone"))), name: "upgrade" };
    const record = await runGates({
      root,
      directory: release.directory,
      key: release.key,
      ...quiet,
      print: (line: string) => void lines.push(line),
      gates: [gate(async () => sound), broken],
    });
    expect(record).toMatchObject({ result: "refused", gates: [{ result: "passed" }, { result: "failed" }] });
    expect(lines).toContain("REFUSED: The gate upgrade did not pass: It broke: gone");
    expect(lines.at(-1)).toBe("This is not a release.");
    expect(readFileSync(join(`${release.directory}.gates`, "upgrade.log"), "utf8")).toContain("Error: gone");
    const [, line = ""] = readFileSync(join(release.directory, "release.intoto.jsonl"), "utf8").split("\n");
    const { payload } = JSON.parse(line) as { payload: string };
    expect(JSON.parse(Buffer.from(payload, "base64").toString())).toMatchObject({ predicate: record });
  });

  it("do not run over what is not a release of this key", async () => {
    using release = await smallRelease();
    const options = { root, directory: release.directory, gates: [], ...quiet };
    await expect(runGates({ ...options, key: release.otherKey })).rejects.toThrow(/is not a release of key/);
  });
});

describe("what the gates of a release must prove", () => {
  const sentences = testGates.flatMap(({ name, suite }) =>
    suite.proves.flatMap((proof) => (proof.startsWith("seed ") ? [{ name, proof, tests: suite.tests }] : [])),
  );
  it.each(sentences)("$name: tests that it runs name $proof", ({ proof, tests }) => {
    const files = tests.flatMap((path) =>
      statSync(join(root, path)).isFile() ? [path] : globSync(`${path}/**/*.test.ts`, { cwd: root }),
    );
    const naming = files.filter((file) => readFileSync(join(root, file), "utf8").includes(proof));
    expect(naming).not.toEqual([]);
  });
});
