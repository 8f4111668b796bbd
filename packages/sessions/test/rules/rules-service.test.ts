import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { RulesStatus } from "@gennai/governance/rules/rules-status";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RulesService } from "#rules/rules-service";

const native = ".gennai/rules.yaml";
const wild = ".pi/damage-control-rules.yaml";
const user = ".config/gennai/rules.yaml";

let base: string;
let root: string;
let home: string;
const services: RulesService[] = [];

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "rules-")));
  root = join(base, "ws");
  home = join(base, "home");
  mkdirSync(root);
  mkdirSync(home);
});

afterEach(async () => {
  for (const service of services.splice(0)) await service[Symbol.asyncDispose]();
  rmSync(base, { recursive: true, force: true });
});

function put(directory: string, name: string, text: string | Uint8Array): void {
  mkdirSync(dirname(join(directory, name)), { recursive: true });
  writeFileSync(join(directory, name), text, { mode: 0o600 });
}

async function open(onChange: (status: RulesStatus) => void = () => {}): Promise<RulesService> {
  const service = await RulesService.open({ root, home, onChange });
  services.push(service);
  return service;
}

const good = "bashToolPatterns:\n  - {pattern: 'git reset --hard', reason: hard reset}\nreadOnlyPaths: [dist/]\n";

test("seed 004 §2 missing: the floor alone is in force, and passes its own examples", async () => {
  const service = await open();
  expect(service.status()).toMatchObject({ problems: [], lastViolation: "" });
  expect(service.status().text).toMatch(/^🛡️ Damage-Control Active: \d+ Rules$/);
  const [floor] = await service.examples();
  expect(floor).toMatchObject({ file: "floor", problems: [] });
  expect(floor?.checked).toBeGreaterThan(20);
});

test("all layers add up", async () => {
  const floor = (await open()).status().count;
  put(root, native, good);
  put(root, wild, "zeroAccessPaths: ['.env', '*.pem']\n");
  put(home, user, "noDeletePaths: [README.md]\n");
  const service = await open();
  expect(service.status().count).toBe(floor + 5);
  expect((await service.current()).searchExcludes).toEqual(["**/.env", "**/*.pem"]);
});

describe("seed 004 §2 home: the file in the home directory stands in for the one in the workspace", () => {
  test("it counts where the workspace has none", async () => {
    const floor = (await open()).status().count;
    put(home, wild, good);
    const service = await open();
    expect(service.status()).toMatchObject({ count: floor + 2, problems: [] });
    expect((await service.examples()).map(({ file }) => file)).toEqual(["floor", `~/${wild}`]);
  });

  test("it is passed over where the workspace has one, also when it is broken", async () => {
    const floor = (await open()).status().count;
    put(home, wild, "7\n");
    put(root, wild, good);
    const service = await open();
    expect(service.status()).toMatchObject({ count: floor + 2, problems: [] });
  });

  test("the workspace's other rule file takes nothing of it away", async () => {
    const floor = (await open()).status().count;
    put(home, wild, good);
    put(root, native, "noDeletePaths: [README.md]\n");
    expect((await open()).status().count).toBe(floor + 3);
  });

  test("a file that the workspace gets later takes away nothing that is in force", async () => {
    put(home, wild, good);
    const service = await open();
    const before = service.status().count;
    put(root, wild, "zeroAccessPaths: [.env]\n");
    expect((await service.current()).count).toBe(before + 1);
    expect(service.status().problems).toEqual([
      `~/${wild}:1: does not count any more; its last rules stay in force until the server is restarted`,
    ]);
  });
});

test("RUL-010 an empty project policy takes nothing away", async () => {
  put(home, user, "zeroAccessPaths: [.env]\n");
  const before = (await open()).status().count;
  put(root, native, "zeroAccessPaths: []\nbashToolPatterns: []\n");
  const service = await open();
  expect(service.status().count).toBe(before);
  expect((await service.current()).readOnly).toBeUndefined();
});

describe("seed 004 §6 fallback: files that cannot be used", () => {
  const bad: readonly (readonly [name: string, text: string | Uint8Array, problem: RegExp])[] = [
    [
      "RUL-008 invalid pattern",
      `${good}noDeletePaths: []\n`.replace("'git reset --hard'", "'git (reset'"),
      /^\.gennai\/rules\.yaml:2: rules\/project\/1: pattern is not a regular expression/,
    ],
    ["RUL-009 only comments", "# nothing\n", /rules\.yaml:1: is empty, not a set of rules/],
    ["RUL-009 a list", "- rm\n", /is a list, not a set of rules/],
    ["CFG-005 duplicate keys", "readOnlyPaths: []\nreadOnlyPaths: []\n", /rules\.yaml:2: .*unique/],
    ["CFG-006 __proto__", "__proto__: {a: 1}\n", /__proto__/],
    ["CFG-008 several documents", "readOnlyPaths: []\n---\nreadOnlyPaths: []\n", /rules\.yaml:/],
    [
      "CFG-009 misspelt key",
      "readOnlyPaths: [a]\nzeroAccesPaths: [.env]\n",
      /^\.gennai\/rules\.yaml:2: zeroAccesPaths: .*did you mean/,
    ],
    ["a key that is not known", "# mine\nrules:\n  - a\n", /^\.gennai\/rules\.yaml:2: rules: is not a known key/],
    ["CFG-019 not UTF-8", new Uint8Array([0xff, 0xfe, 0x61, 0x00]), /not UTF-8/],
    [
      "an example that does not match",
      "bashToolPatterns:\n  - pattern: 'x'\n    reason: r\n    match: ['y']\n",
      /^\.gennai\/rules\.yaml:2: rules\/project\/1: does not match its own example "y"/,
    ],
    [
      "an example that must not match",
      "bashToolPatterns:\n  - {pattern: 'rm', reason: r, notMatch: ['rm x']}\n",
      /matches "rm x", which it says it must not/,
    ],
    ["aliases", "readOnlyPaths: &a [x]\nnoDeletePaths: *a\n", /alias/],
  ];
  test.each(bad)("%s", async (_, text, problem) => {
    put(root, native, text);
    const service = await open();
    expect(service.status().problems.join("\n")).toMatch(problem);
    expect(service.status().text).toMatch(/^⛔ .*read-only/);
    expect((await service.current()).readOnly).toMatch(problem);
  });

  test("a name that is not read, until it is renamed", async () => {
    put(root, ".gennai/rules.yml", good);
    const service = await open();
    expect(service.status().problems).toEqual([
      ".gennai/rules.yml:1: is not read under this name; rename it to .gennai/rules.yaml",
    ]);
    expect((await service.current()).readOnly).toBeDefined();
    renameSync(join(root, ".gennai/rules.yml"), join(root, native));
    expect((await service.current()).readOnly).toBeUndefined();
    expect(service.status()).toMatchObject({ problems: [], text: expect.stringMatching(/^🛡️/) });
    expect(service.status().count).toBeGreaterThan(11);
  });

  test("CFG-017 a link that leads out", async () => {
    put(base, "outside.yaml", good);
    mkdirSync(join(root, ".gennai"));
    symlinkSync(join(base, "outside.yaml"), join(root, native));
    const service = await open();
    expect(service.status().problems[0]).toMatch(/leads out of the workspace/);
    expect((await service.current()).readOnly).toBeDefined();
  });

  test("CFG-018 the user's file that others may write", async () => {
    put(home, user, good);
    chmodSync(join(home, user), 0o666);
    const service = await open();
    expect(service.status().problems[0]).toMatch(/can be written by others/);
  });

  test("RUL-008 the good rules of a bad file hold", async () => {
    put(root, native, `${good}noDeletePaths: [7]\n`);
    const rules = await (await open()).current();
    expect(rules.patterns.map(({ rule }) => rule.name)).toContain("rules/project/1");
    expect(rules.readOnly).toBeDefined();
  });

  test("onInvalidRules: continue in the user's file", async () => {
    put(root, native, "bashToolPatterns: 7\n");
    put(home, user, "onInvalidRules: continue\n");
    const service = await open();
    expect((await service.current()).readOnly).toBeUndefined();
    expect(service.status().text).toMatch(/\(1 error in rule files\)$/);
  });

  test("CFG-011 a pattern for everything is accepted and reported", async () => {
    put(root, native, "bashToolPatterns:\n  - {pattern: '.*', reason: all}\n");
    const service = await open();
    expect(service.status().problems).toEqual([
      '.gennai/rules.yaml:2: rules/project/1: pattern ".*" matches every command',
    ]);
    expect((await service.current()).readOnly).toBeUndefined();
  });

  test("CFG-019 a byte order mark is no matter", async () => {
    put(root, native, `\uFEFF${good}`);
    expect((await open()).status().problems).toEqual([]);
  });

  test("a rule above the workspace is reported", async () => {
    put(root, native, `readOnlyPaths: [${JSON.stringify(`${base}/`)}]\n`);
    expect((await open()).status().problems[0]).toMatch(/covers the whole workspace/);
  });
});

describe("changes while it is open", () => {
  test("new rules hold for the next decision, and the old set stays as it was", async () => {
    const told: string[] = [];
    const service = await open((status) => told.push(status.policySha256));
    const before = await service.current();
    put(root, native, good);
    const after = await service.current();
    expect([before.count + 2, before.sha256 === after.sha256]).toEqual([after.count, false]);
    expect(await service.current()).toBe(after);
    expect(told).toEqual([after.sha256]);
  });

  test("bad YAML leaves the last good rules in force, and is said", async () => {
    put(root, native, good);
    const told: RulesStatus[] = [];
    const service = await open((status) => told.push(status));
    const before = await service.current();
    put(root, native, "readOnlyPaths: [dist/\n");
    const after = await service.current();
    expect([after.sha256, after.readOnly]).toEqual([before.sha256, undefined]);
    expect(told.at(-1)?.problems[0]).toMatch(/^\.gennai\/rules\.yaml:/);
    put(root, native, good);
    expect((await service.current()).sha256).toBe(before.sha256);
    expect(service.status().problems).toEqual([]);
  });

  test("a file that vanishes leaves its rules", async () => {
    put(root, native, good);
    const service = await open();
    const before = await service.current();
    unlinkSync(join(root, native));
    expect((await service.current()).sha256).toBe(before.sha256);
    expect(service.status().problems).toEqual([expect.stringMatching(/is gone; its last rules stay/)]);
  });

  test("a file that was bad from the beginning is said, and mended", async () => {
    put(root, native, "7\n");
    const told: RulesStatus[] = [];
    const service = await open((status) => told.push(status));
    expect(told.map(({ problems }) => problems.length)).toEqual([1]);
    put(root, native, good);
    expect((await service.current()).readOnly).toBeUndefined();
  });
});

test("seed 004 §4 status: the last violation stands in the status for a while", async () => {
  let now = 1_000;
  const told: RulesStatus[] = [];
  const service = await RulesService.open({ root, home, now: () => now, onChange: (status) => told.push(status) });
  services.push(service);
  service.violation({ tool: "Bash", input: '{"command":"git reset --hard"}', action: "blocked" });
  expect(service.status().text).toBe("⚠️ Last Violation: git reset --hard");
  now += 11_000;
  expect(service.status()).toMatchObject({ text: expect.stringMatching(/^🛡️/), lastViolation: "git reset --hard" });
  // The rules are what they were: no session has to be told.
  expect(told).toEqual([]);
});

test("what a person allowed is no violation, and takes the earlier one of the same call away", async () => {
  const service = await RulesService.open({ root, home });
  services.push(service);
  const other = { tool: "Bash", input: '{"command":"git clean -fd"}' };
  const asked = { tool: "Bash", input: '{"command":"git reset --hard"}' };
  service.violation({ ...other, action: "confirmed" });
  expect(service.status().lastViolation).toBe("");
  service.violation({ ...asked, action: "refused" });
  service.violation({ ...other, action: "confirmed" });
  expect(service.status().lastViolation).toBe("git reset --hard");
  service.violation({ ...asked, action: "confirmed" });
  expect(service.status()).toMatchObject({ text: expect.stringMatching(/^🛡️/), lastViolation: "" });
});
