import { generateKeyPairSync } from "node:crypto";
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { permitted, problemOf } from "@gennai/governance/limits/limits";
import { expect, test } from "vitest";
import { loadLimits } from "#rules/load-limits";
import { signPolicy } from "#rules/sign-policy";

const document = {
  gennai_policy: 1,
  name: "interns",
  serial: 1,
  capabilities: ["read", "propose", "write"],
  issued: "2026-01-01T00:00:00Z",
  expires: "2027-01-01T00:00:00Z",
};
const inItsTime = Date.parse("2026-06-01T00:00:00Z");

function keyPair() {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  return {
    publicKey: publicKey.export({ type: "spki", format: "pem" }).toString(),
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

const own = keyPair();
const signed = signPolicy(document, own.privateKey);

interface Case {
  readonly name: string;
  /** Files of the configuration directory. */
  readonly files: Readonly<Record<string, string>>;
  readonly named?: string;
  readonly now?: number;
  /** undefined: in force. */
  readonly problem?: string;
}

const cases: readonly Case[] = [
  { name: "genuine", files: { "policy.json": signed, "policy.pub": own.publicKey } },
  { name: "named", files: { "team.json": signed, "policy.pub": own.publicKey }, named: "team.json" },
  {
    name: "one key of several",
    files: { "policy.json": signed, "policy.pub": keyPair().publicKey + own.publicKey },
  },
  { name: "named and missing", files: { "policy.pub": own.publicKey }, named: "team.json", problem: "not there" },
  {
    name: "tampered",
    files: { "policy.json": signed.replace('"propose"', '"execute"'), "policy.pub": own.publicKey },
    problem: "changed after it was signed",
  },
  {
    name: "its time stretched",
    files: { "policy.json": signed.replace("2027-", "2037-"), "policy.pub": own.publicKey },
    problem: "changed after it was signed",
  },
  {
    name: "unsigned",
    files: { "policy.json": JSON.stringify(document), "policy.pub": own.publicKey },
    problem: "key_id",
  },
  {
    name: "wrong key",
    files: { "policy.json": signed, "policy.pub": keyPair().publicKey },
    problem: "not trusted here",
  },
  { name: "no key", files: { "policy.json": signed }, problem: "no public key" },
  { name: "no JSON", files: { "policy.json": "{", "policy.pub": own.publicKey }, problem: "not JSON" },
  { name: "empty", files: { "policy.json": "", "policy.pub": own.publicKey }, problem: "not JSON" },
  {
    name: "expired",
    files: { "policy.json": signed, "policy.pub": own.publicKey },
    now: Date.parse("2027-01-02"),
    problem: "expired on 2027-01-01",
  },
  {
    name: "clock before issue",
    files: { "policy.json": signed, "policy.pub": own.publicKey },
    now: Date.parse("2025-12-31"),
    problem: "clock",
  },
];

async function limitsOf(
  { files, named, now = inItsTime }: Omit<Case, "name">,
  { prepare, required = false }: { prepare?: (configDir: string) => Promise<void>; required?: boolean } = {},
) {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "gennai-limits-")));
  await using _cleanUp = { [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) };
  const configDir = join(directory, "config");
  await mkdir(configDir);
  for (const [name, text] of Object.entries(files)) await writeFile(join(configDir, name), text, { mode: 0o600 });
  await prepare?.(configDir);
  const environment = named === undefined ? {} : { GENNAI_POLICY: join(configDir, named) };
  return (
    await loadLimits(
      { environment, configDir, stateDir: join(directory, "state"), required, version: "0.2.0" },
      () => now,
    )
  ).current();
}

test.each(cases)(
  "seed 003 §10 least: missing or invalid license defaults to least-privilege behavior: $name",
  async (row) => {
    const limits = await limitsOf(row);
    expect(permitted(limits)).toEqual(row.problem === undefined ? document.capabilities : ["read"]);
    if (row.problem === undefined) expect(problemOf(limits)).toBeUndefined();
    else expect(problemOf(limits)).toContain(row.problem);
  },
);

test("a policy beside another one only takes away", async () => {
  const other = signPolicy({ ...document, capabilities: ["read", "write", "network"] }, own.privateKey);
  const limits = await limitsOf({
    files: { "policy.json": signed, "team.json": other, "policy.pub": own.publicKey },
    named: "team.json",
  });
  expect(permitted(limits)).toEqual(["read", "write"]);
});

test.each([
  ["on a private machine everything is permitted", false, undefined],
  ["seed 003 §10 least: a missing license leaves reading with --auth", true, /policy\.json: no policy was found/],
])("without a policy %s", async (_what, required, problem) => {
  const limits = await limitsOf({ files: {} }, { required });
  if (problem === undefined) expect(limits).toEqual([]);
  else {
    expect(permitted(limits)).toEqual(["read"]);
    expect(problemOf(limits)).toMatch(problem);
  }
});

test("a policy that others can change is not believed", async () => {
  const limits = await limitsOf(
    { files: { "policy.json": signed, "policy.pub": own.publicKey } },
    { prepare: (configDir) => chmod(join(configDir, "policy.json"), 0o666) },
  );
  expect(permitted(limits)).toEqual(["read"]);
  expect(problemOf(limits)).toContain("chmod go-w");
});

test("a store that cannot be read lets only reading through where records must arrive elsewhere", async () => {
  const siem = { name: "siem", to: "file", endpoint: "/siem", required: true };
  const files = {
    "policy.json": signPolicy({ ...document, export: [siem] }, own.privateKey),
    "policy.pub": own.publicKey,
  };
  expect(problemOf(await limitsOf({ files }))).toBeUndefined();
  const limits = await limitsOf(
    { files },
    {
      prepare: async (configDir) => {
        await mkdir(join(configDir, "..", "state"));
        await writeFile(join(configDir, "..", "state", "gennai.db"), "damaged".repeat(1_000));
      },
    },
  );
  expect(permitted(limits)).toEqual(["read"]);
  expect(limits).toMatchObject([{ problemCode: "export_behind", problem: expect.stringContaining("gennai.db") }]);
});

test("a policy expires while it is in use", async () => {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "gennai-limits-")));
  await using _cleanUp = { [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) };
  await writeFile(join(directory, "policy.json"), signed, { mode: 0o600 });
  await writeFile(join(directory, "policy.pub"), own.publicKey, { mode: 0o644 });
  let now = inItsTime;
  const place = { environment: {}, configDir: directory, stateDir: directory, required: false, version: "0.2.0" };
  const loaded = await loadLimits(place, () => now);
  expect(problemOf(loaded.current())).toBeUndefined();
  now = Date.parse("2028-01-01");
  expect(problemOf(loaded.current())).toContain("expired");
});

test("only a policy and an Ed25519 key are signed", () => {
  expect(() => signPolicy({ ...document, capabilities: ["root"] }, own.privateKey)).toThrow("capabilities");
  expect(() => signPolicy(document, "no key")).toThrow("openssl");
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  expect(() => signPolicy(document, privateKey.export({ type: "pkcs8", format: "pem" }).toString())).toThrow("Ed25519");
});
