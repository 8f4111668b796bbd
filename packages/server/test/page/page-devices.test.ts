import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { loginText } from "@gennai/protocol/page-paths";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { PageDevices } from "#page/page-devices";

const origin = "http://127.0.0.1:7777";
const month = 30 * 24 * 60 * 60_000;

function browser() {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = publicKey.export({ format: "der", type: "spki" }).toString("base64");
  return { publicKey: spki, privateKey };
}

const signed = (key: KeyObject, text: string) =>
  sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" }).toString("base64");

async function scene() {
  const directory = await temporaryDirectory();
  const clock = { now: 1_000 };
  const devices = new PageDevices(directory.root, () => clock.now);
  const mine = browser();
  const device = await devices.remember({ name: "Firefox", origin, publicKey: mine.publicKey });
  const id = device?.id ?? "";
  const proof = { id, origin, nonce: "n", signature: signed(mine.privateKey, loginText(origin, "n")) };
  const file = directory.path("page-devices.json");
  return {
    directory,
    clock,
    devices,
    mine,
    id,
    proof,
    file,
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

test("a remembered browser comes in by its signature, until it is forgotten or its time is over", async () => {
  await using on = await scene();
  on.clock.now += month - 1;
  expect(await on.devices.proves(on.proof)).toBe(true);
  expect(await on.devices.list()).toMatchObject([{ id: on.id, name: "Firefox", used: on.clock.now, created: 1_000 }]);
  on.clock.now += 1;
  // To be used prolongs nothing.
  expect(await on.devices.proves(on.proof)).toBe(false);
  on.clock.now = 1_000;
  await on.devices.forget(on.id);
  expect(await on.devices.proves(on.proof)).toBe(false);
});

test.each([
  { name: "another nonce", change: { nonce: "m" } },
  { name: "another address", change: { origin: "http://127.0.0.1:7778" } },
  { name: "another browser's id", change: { id: "00000000-0000-4000-8000-000000000000" } },
  { name: "no signature", change: { signature: "" } },
])("$name lets nobody in", async ({ change }) => {
  await using on = await scene();
  expect(await on.devices.proves({ ...on.proof, ...change })).toBe(false);
});

test("a signature of another key lets nobody in, and one for another address neither", async () => {
  await using on = await scene();
  const other = signed(browser().privateKey, loginText(origin, "n"));
  expect(await on.devices.proves({ ...on.proof, signature: other })).toBe(false);
  const elsewhere = signed(on.mine.privateKey, loginText("http://127.0.0.1:7778", "n"));
  expect(await on.devices.proves({ ...on.proof, signature: elsewhere })).toBe(false);
});

test("only keys of the one kind are remembered, sixteen at most, in a private file without anything secret", async () => {
  await using on = await scene();
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey.export({ format: "der", type: "spki" });
  const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey.export({ format: "der", type: "spki" });
  for (const publicKey of ["AAAA", rsa.toString("base64"), p384.toString("base64")]) {
    expect(await on.devices.remember({ name: "", origin, publicKey })).toBeUndefined();
  }
  for (let at = 0; at < 16; at += 1)
    await on.devices.remember({ name: `${at}`, origin, publicKey: browser().publicKey });
  expect((await on.devices.list()).map(({ name }) => name)).toEqual(
    Array.from({ length: 16 }, (_none, index) => `${15 - index}`),
  );
  expect((await stat(on.file)).mode & 0o777).toBe(0o600);
  expect(await readFile(on.file, "utf8")).not.toContain("PRIVATE");
});

test("a damaged file lets nobody in, and is written anew", async () => {
  await using on = await scene();
  await writeFile(on.file, '[{"id":1}]');
  expect(await on.devices.proves(on.proof)).toBe(false);
  await on.devices.remember({ name: "again", origin, publicKey: on.mine.publicKey });
  expect(await on.devices.list()).toHaveLength(1);
});
