import { chmod, mkdir, readdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ledgerVerifier, openLedgerSigner } from "#ledger/ledger-key";
import { StoreFixture } from "../sqlite/store-fixture.ts";

let fixture: StoreFixture;
let file: string;
beforeEach(async () => {
  fixture = await StoreFixture.create();
  file = join(fixture.stateDir, "keys", "ledger.ed25519");
});
afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

it("is made once, also when many start at the same time", async () => {
  const signers = await Promise.all(Array.from({ length: 10 }, () => openLedgerSigner(fixture.stateDir)));
  expect(new Set(signers.map((signer) => signer.keyId)).size).toBe(1);
  expect(await readdir(join(fixture.stateDir, "keys"))).toEqual(["ledger.ed25519", "ledger.ed25519.pub"]);

  const [signer] = signers;
  const keyId = signer?.keyId ?? "";
  expect(keyId).toMatch(/^[0-9a-f]{16}$/);
  const message = Buffer.from("message");
  const signature = signer?.sign(message) ?? new Uint8Array();
  const verifier = ledgerVerifier(await readFile(`${file}.pub`, "utf8"));
  expect(verifier.knows(keyId)).toBe(true);
  expect(verifier.verify(keyId, message, signature)).toBe(true);
  expect(verifier.verify(keyId, Buffer.from("massage"), signature)).toBe(false);
  expect(verifier.verify("0".repeat(16), message, signature)).toBe(false);
});

it.each<[string, () => Promise<void>]>([
  ["others may read", () => chmod(file, 0o644)],
  ["the group may read", () => chmod(file, 0o640)],
  [
    "is a link",
    async () => {
      await rename(file, `${file}.away`);
      await symlink(`${file}.away`, file);
    },
  ],
  [
    "is a directory",
    async () => {
      await rename(file, `${file}.away`);
      await mkdir(file);
    },
  ],
  ["is no key", () => writeFile(file, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")],
  ["is empty", () => writeFile(file, "")],
])("is refused when it %s", async (_name, spoil) => {
  await openLedgerSigner(fixture.stateDir);
  await spoil();
  await expect(openLedgerSigner(fixture.stateDir)).rejects.toMatchObject({ name: "StoreError", code: "unsafe_key" });
});

it("needs a public key to verify with", () => {
  expect(() => ledgerVerifier("nothing")).toThrow(expect.objectContaining({ code: "unsafe_key" }));
  expect(() => ledgerVerifier("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----")).toThrow(
    expect.objectContaining({ code: "unsafe_key" }),
  );
});
