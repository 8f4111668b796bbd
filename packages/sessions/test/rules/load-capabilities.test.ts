import { generateKeyPairSync } from "node:crypto";
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadCapabilities } from "#rules/load-capabilities";
import { signCapabilities } from "#rules/sign-capabilities";

const document = {
  type: "gennai-capabilities",
  version: 1,
  name: "interns",
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
const signed = signCapabilities(document, own.privateKey);

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
  { name: "genuine", files: { "capabilities.json": signed, "capabilities.pub": own.publicKey } },
  { name: "named", files: { "team.json": signed, "capabilities.pub": own.publicKey }, named: "team.json" },
  {
    name: "one key of several",
    files: { "capabilities.json": signed, "capabilities.pub": keyPair().publicKey + own.publicKey },
  },
  { name: "named and missing", files: { "capabilities.pub": own.publicKey }, named: "team.json", problem: "not there" },
  {
    name: "tampered",
    files: { "capabilities.json": signed.replace('"propose"', '"execute"'), "capabilities.pub": own.publicKey },
    problem: "changed after it was signed",
  },
  {
    name: "its time stretched",
    files: { "capabilities.json": signed.replace("2027-", "2037-"), "capabilities.pub": own.publicKey },
    problem: "changed after it was signed",
  },
  {
    name: "unsigned",
    files: { "capabilities.json": JSON.stringify(document), "capabilities.pub": own.publicKey },
    problem: "key_id",
  },
  {
    name: "wrong key",
    files: { "capabilities.json": signed, "capabilities.pub": keyPair().publicKey },
    problem: "not trusted here",
  },
  { name: "no key", files: { "capabilities.json": signed }, problem: "no public key" },
  { name: "no JSON", files: { "capabilities.json": "{", "capabilities.pub": own.publicKey }, problem: "not JSON" },
  { name: "empty", files: { "capabilities.json": "", "capabilities.pub": own.publicKey }, problem: "not JSON" },
  {
    name: "expired",
    files: { "capabilities.json": signed, "capabilities.pub": own.publicKey },
    now: Date.parse("2027-01-02"),
    problem: "expired on 2027-01-01",
  },
  {
    name: "clock before issue",
    files: { "capabilities.json": signed, "capabilities.pub": own.publicKey },
    now: Date.parse("2025-12-31"),
    problem: "clock",
  },
];

async function stateOf(
  { files, named, now = inItsTime }: Omit<Case, "name">,
  prepare?: (configDir: string) => Promise<void>,
  requiredByDefault = false,
) {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "gennai-capabilities-")));
  await using _cleanUp = { [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) };
  const configDir = join(directory, "config");
  await mkdir(configDir);
  for (const [name, text] of Object.entries(files)) await writeFile(join(configDir, name), text, { mode: 0o600 });
  await prepare?.(configDir);
  const loaded = await loadCapabilities(
    {
      named: named === undefined ? undefined : join(configDir, named),
      configDir,
      stateDir: join(directory, "state"),
      requiredByDefault,
    },
    () => now,
  );
  return loaded.current();
}

test.each(cases)(
  "seed 003 §10 least: missing or invalid license defaults to least-privilege behavior: $name",
  async (row) => {
    const state = await stateOf(row);
    if (row.problem === undefined) {
      expect(state).toEqual({
        profile: expect.objectContaining({ name: "interns", capabilities: document.capabilities }),
      });
    } else {
      expect(state).toMatchObject({
        profile: { capabilities: ["read"] },
        problem: expect.stringContaining(row.problem),
      });
    }
  },
);

test("without a profile of one's own the default one is in force", async () => {
  expect(await stateOf({ files: {} })).toMatchObject({ profile: { name: "default" } });
});

test.each<[string, string | undefined, boolean, "everything" | "reading"]>([
  ["on a private machine, nothing said", undefined, false, "everything"],
  ["with --auth, nothing said", undefined, true, "reading"],
  ["on a private machine, required", '{"capabilities":{"required":true}}', false, "reading"],
  ["with --auth, not required", '{"capabilities":{"required":false}}', true, "everything"],
  ["on a private machine, with a setting that cannot be read", '{"capabilities":{"requird":true}}', false, "reading"],
])("seed 003 §10 least: a missing license, %s (%s)", async (_name, server, byDefault, permitted) => {
  const state = await stateOf({ files: server === undefined ? {} : { "server.json": server } }, undefined, byDefault);
  if (permitted === "everything") expect(state.problem).toBeUndefined();
  else {
    expect(state.profile.capabilities).toEqual(["read"]);
    expect(state.problem).toMatch(/capabilities\.json: no profile was found.*(?:capabilities\.required|server\.json)/);
  }
});

test("a profile that others can change is not believed", async () => {
  const state = await stateOf(
    { files: { "capabilities.json": signed, "capabilities.pub": own.publicKey } },
    (configDir) => chmod(join(configDir, "capabilities.json"), 0o666),
  );
  expect(state).toMatchObject({ profile: { capabilities: ["read"] }, problem: expect.stringContaining("chmod go-w") });
});

test("a profile expires while it is in use", async () => {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "gennai-capabilities-")));
  await using _cleanUp = { [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) };
  await writeFile(join(directory, "capabilities.json"), signed, { mode: 0o600 });
  await writeFile(join(directory, "capabilities.pub"), own.publicKey, { mode: 0o644 });
  let now = inItsTime;
  const loaded = await loadCapabilities(
    { named: undefined, configDir: directory, stateDir: directory, requiredByDefault: false },
    () => now,
  );
  expect(loaded.current().problem).toBeUndefined();
  now = Date.parse("2028-01-01");
  expect(loaded.current().problem).toContain("expired");
});

test("only a profile and an Ed25519 key are signed", () => {
  expect(() => signCapabilities({ ...document, capabilities: ["root"] }, own.privateKey)).toThrow("capabilities");
  expect(() => signCapabilities(document, "no key")).toThrow("openssl");
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  expect(() => signCapabilities(document, privateKey.export({ type: "pkcs8", format: "pem" }).toString())).toThrow(
    "Ed25519",
  );
});
