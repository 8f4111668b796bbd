import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Limit } from "@gennai/governance/limits/limits";
import { openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { IntentsService } from "#intents/intents-service";
import { PolicyWorkbench } from "#policy-workbench/policy-workbench";
import { replayLines } from "#policy-workbench/replay-ledger";

let base: string;
let root: string;
let workbench: PolicyWorkbench;

beforeAll(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "workbench-")));
  root = join(base, "ws");
  const files = {
    "src/a.ts": "const a = 1;\n",
    "README.md": "# Read me\n",
    ".env": "A=1\n",
    ".env.example": "A=\n",
    "package-lock.json": "{}\n",
    "dist/app.js": "app\n",
    ".pi/damage-control-rules.yaml": `zeroAccessPaths: ["~/.ssh/", .env, "*.pem"]
readOnlyPaths: [package-lock.json, dist/]
noDeletePaths: [README.md]
bashToolPatterns:
  - {pattern: '\\bgit\\s+push\\s+.*--force(?!-with-lease)', reason: force push}
  - {pattern: '\\bmake\\s+release\\b', reason: releases, ask: true}
  - {pattern: '\\bprod\\b', reason: production, ask: true}
`,
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  mkdirSync(join(base, "home"));
  workbench = await PolicyWorkbench.open({ workspace: root, stateDir: join(base, "state"), home: join(base, "home") });
});

afterAll(async () => {
  await workbench[Symbol.asyncDispose]();
  rmSync(base, { recursive: true, force: true });
});

const rows: readonly (readonly [tool: string, input: Record<string, unknown>, verdict: string, rule: string])[] = [
  ["Bash", { command: "git status" }, "allow", ""],
  ["bash", { command: "cat dist/app.js" }, "allow", ""],
  ["bash", { command: "git push --force" }, "deny", "rules/project/1"],
  ["bash", { command: "git push --force-with-lease" }, "ask", "floor/git-loss"],
  ["bash", { command: "make release" }, "ask", "rules/project/2"],
  ["bash", { command: "rm README.md" }, "deny", "rules/project/noDeletePaths/1"],
  ["bash", { command: "npm test" }, "ask", "commands/not-proven-to-read"],
  ["read", { path: "src/a.ts" }, "allow", ""],
  ["read", { path: ".env" }, "deny", "rules/project/zeroAccessPaths/2"],
  ["read", { path: "../secret" }, "deny", "containment/outside-workspace"],
  ["read", { path: "file:///etc/passwd" }, "deny", "tool/bad_path"],
  ["read", { path: "" }, "deny", "gate/schema"],
  ["write", { path: "src/a.ts", content: "const a = 1;\n" }, "allow", ""],
  ["write", { path: "src/new.ts" }, "allow", ""],
  ["write", { path: ".git/config", content: "x" }, "deny", "control-files/protected"],
  ["write", { path: "package-lock.json", content: "x" }, "deny", "rules/project/readOnlyPaths/1"],
  ["edit", { path: "src/a.ts", oldText: "not there", newText: "x" }, "allow", ""],
  ["edit", { path: "dist/app.js" }, "deny", "rules/project/readOnlyPaths/2"],
  ["Delete", { file_path: "README.md" }, "deny", "rules/project/noDeletePaths/1"],
  ["Move", { from: "README.md", to: "gone.md" }, "deny", "rules/project/noDeletePaths/1"],
  ["grep", { pattern: "x" }, "allow", ""],
  ["grep", { pattern: "x", path: ".", glob: "{a,.env}" }, "deny", "rules/project/zeroAccessPaths/2"],
  ["find", {}, "allow", ""],
  ["ls", {}, "allow", ""],
  ["unheard-of", {}, "deny", "gate/registry"],
];

test.each(rows)("%s %j: %s", async (tool, input, verdict, rule) => {
  const report = await workbench.decide(tool, input);
  expect([report.verdict, report.rule]).toEqual([verdict, rule]);
});

test("every rule that fires is told, with the reading", async () => {
  const report = await workbench.decide("bash", { command: "sudo rm README.md && cat .env" });
  expect(report.risk).toBe("high");
  expect(report.rules.map(({ rule }) => rule)).toEqual(
    expect.arrayContaining([
      "rules/project/noDeletePaths/1",
      "rules/project/zeroAccessPaths/2",
      "floor/privileged",
      "high-risk/confirm",
    ]),
  );
  expect(report.reading?.commands).toContain("rm README.md  (in sudo)");
  expect(report.reading?.paths).toContainEqual({ raw: "README.md", path: join(root, "README.md"), access: "delete" });
});

test("what needs two persons is refused, also behind a rule that asks first", async () => {
  const acme: Limit = {
    name: "acme",
    holder: "root",
    file: "/p.yaml",
    lines: {},
    answers: { two_persons: ["rules/project/3"] },
  };
  const options = { workspace: root, stateDir: join(base, "state"), home: join(base, "home"), limits: [acme] };
  await using limited = await PolicyWorkbench.open(options);
  const report = await limited.decide("bash", { command: "make release prod" });
  expect(report).toMatchObject({ verdict: "deny", rule: "rules/project/3" });
  expect(report.rules[0]).toMatchObject({ rule: "rules/project/3", verdict: "deny" });
  expect(await limited.decide("bash", { command: "make release" })).toMatchObject({ verdict: "ask" });
});

test("nothing runs and nothing is written", async () => {
  await workbench.decide("bash", { command: "echo x > made.txt" });
  await workbench.decide("write", { path: "made.txt", content: "x" });
  expect(existsSync(join(root, "made.txt"))).toBe(false);
  expect(existsSync(join(base, "state"))).toBe(false);
  expect(readFileSync(join(root, "src/a.ts"), "utf8")).toBe("const a = 1;\n");
});

test("an intent that is assumed to be selected counts", async () => {
  mkdirSync(join(root, ".orchestration"), { recursive: true });
  writeFileSync(
    join(root, ".orchestration/active_intents.yaml"),
    "active_intents: [{ id: INT-001, name: Work, status: active, owned_scope: [src/**] }]\n",
  );
  const options = { workspace: root, stateDir: join(base, "state"), home: join(base, "home") };
  await using under = await PolicyWorkbench.open({ ...options, intent: "INT-001" });
  expect(await under.decide("write", { path: "lib/new.ts", content: "" })).toMatchObject({ rule: "intents/scope" });
  expect(await under.decide("write", { path: "src/new.ts", content: "" })).toMatchObject({ verdict: "allow" });
  await expect(PolicyWorkbench.open({ ...options, intent: "INT-404" })).rejects.toMatchObject({
    code: "invalid_intent",
  });
});

describe("replay", () => {
  test("calls of the past by today's rules", async () => {
    const record = (kind: string, calls: readonly object[], details = {}) =>
      JSON.stringify({ metadata: { seq: 4, kind, calls, details } });
    const call = (tool: string, input: object, verdict: string) => ({
      call_id: "c",
      tool,
      input: JSON.stringify(input),
      verdict,
      rule: "r",
    });
    const lines = [
      record("intent", [
        call("Bash", { command: "git push --force" }, "ask"),
        call("Read", { file_path: "src/a.ts" }, "allow"),
      ]),
      record("outcome", [call("Bash", { command: "git push --force" }, "ask")]),
      record("refusal", [call("Read", { file_path: ".env" }, "deny")]),
      record("outcome", [call("Read", { file_path: "README.md" }, "allow")], { only_reads: true }),
      "not json",
      "{}",
    ];
    async function* each() {
      yield* lines;
    }
    const replayed = await Array.fromAsync(replayLines(each(), workbench));
    expect(replayed.map(({ tool, past, today, differs }) => [tool, past.verdict, today.verdict, differs])).toEqual([
      ["Bash", "ask", "deny", true],
      ["Read", "allow", "allow", false],
      ["Read", "deny", "deny", false],
      ["Read", "allow", "allow", false],
    ]);
  });

  test("a call is judged once, whatever it was asked about while it ran", async () => {
    const call = { call_id: "c", tool: "Bash", input: '{"command":"ls"}' };
    const intent = (verdict: string, rule: string) =>
      JSON.stringify({ metadata: { kind: "intent", turn_id: "t", calls: [{ ...call, verdict, rule }] } });
    async function* each() {
      yield* [intent("allow", ""), intent("ask", "network/connection")];
    }
    expect(await Array.fromAsync(replayLines(each(), workbench))).toMatchObject([{ differs: false }]);
  });

  test("what intents decided is not judged where none is named", async () => {
    const place = { workspace: root, stateDir: join(base, "other-state"), home: join(base, "home") };
    await IntentsService.open({ workspace: openLocalWorkspace(root, place), stateDir: place.stateDir }).setMode(
      "required",
    );
    await using required = await PolicyWorkbench.open(place);
    const call = { call_id: "c", tool: "Write", input: '{"file_path":"src/b.ts","content":""}' };
    async function* each() {
      yield JSON.stringify({
        metadata: { kind: "refusal", calls: [{ ...call, verdict: "deny", rule: "intents/required" }] },
      });
    }
    expect(required.intentsIgnored).toBe(true);
    expect(await Array.fromAsync(replayLines(each(), required))).toMatchObject([{ differs: false, needsIntent: true }]);
  });
});
