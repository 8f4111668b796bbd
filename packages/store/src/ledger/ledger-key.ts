import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { NextKey, Signer, Verifier } from "@gennai/governance/ledger/ledger-signature";
import { createFile, replaceFile } from "@gennai/machine/replace-file";
import type { SqliteConnection } from "@gennai/machine/sqlite-connection";
import { hasCode } from "@gennai/machine/system-error";
import { syncDirectory } from "@gennai/machine/workspace/files/sync-directory";
import { textOf } from "../database/row.ts";
import { StoreError } from "../database/store-error.ts";

export function ledgerPublicKeyFile(stateDir: string): string {
  return join(stateDir, "keys", "ledger.ed25519.pub");
}

/**
 * The state directory's signing key, created on first use; of several processes that create it at once, one wins. Rejects with
 * `StoreError` `unsafe_key` if others could have read or replaced it.
 */
export async function openLedgerSigner(stateDir: string): Promise<LedgerSigner> {
  const file = ledgerKeyFile(stateDir);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  let current = readKey(file);
  if (current === undefined) {
    await createKey(file, { replace: false });
    current = readKey(file);
  }
  if (current === undefined) throw unsafeKey(file, "vanished while it was made");
  await publishFirst(ledgerPublicKeyFile(stateDir), current.publicPem);
  let key: LedgerKeyPair = current;
  return {
    get keyId() {
      return key.keyId;
    },
    sign: (message) => key.sign(message),
    use: (keyId) => {
      if (key.keyId === keyId) return;
      // Until the last step of a hand-over, the new key is in its own file; it may be moved into place at any moment.
      const files = [file, nextLedgerKeyFile(stateDir), file];
      for (const each of files) {
        const found = readKey(each);
        if (found?.keyId !== keyId) continue;
        key = found;
        return;
      }
    },
  };
}

/** Signs with the key in force. */
export interface LedgerSigner extends Signer {
  /** Changes to the key with this id, if it exists: another process may have handed the ledgers over. */
  use(keyId: string): void;
}

export interface LedgerKeyPair extends NextKey {
  readonly publicPem: string;
}

export function ledgerKeyFile(stateDir: string): string {
  return join(stateDir, "keys", "ledger.ed25519");
}

/** File of a new key until the ledgers are handed over to it. */
export function nextLedgerKeyFile(stateDir: string): string {
  return join(stateDir, "keys", "ledger.ed25519.next");
}

/** Undefined if there is no such file. Throws `StoreError` `unsafe_key`. */
export function readKey(file: string): LedgerKeyPair | undefined {
  const pem = readPrivateFile(file);
  if (pem === undefined) return undefined;
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (error) {
    throw unsafeKey(file, "is no private key", { cause: error });
  }
  if (key.asymmetricKeyType !== "ed25519") throw unsafeKey(file, "is not an Ed25519 key");
  const publicKey = createPublicKey(key);
  return {
    keyId: keyIdOf(publicKey),
    publicKey: publicKey.export({ type: "spki", format: "der" }).toString("base64"),
    publicPem: publicKey.export({ type: "spki", format: "pem" }).toString(),
    sign: (message) => sign(null, message, key),
  };
}

/**
 * Whether a key that ever signed for this state directory signed a record. Throws `StoreError` `unsafe_key` and errors of
 * reading.
 */
export function isSignedHere(stateDir: string): (record: { readonly keyId: string }) => boolean {
  const verifier = ledgerVerifier(readFileSync(ledgerPublicKeyFile(stateDir), "utf8"));
  return ({ keyId }) => verifier.knows(keyId);
}

/**
 * A verifier for the Ed25519 public keys in a text with one or more SPKI PEM blocks. Throws `StoreError` `unsafe_key` if there
 * is none.
 */
export function ledgerVerifier(pem: string): Verifier {
  const keys = new Map<string, KeyObject>();
  for (const [block] of pem.matchAll(/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g)) {
    try {
      const key = createPublicKey(block);
      if (key.asymmetricKeyType === "ed25519") keys.set(keyIdOf(key), key);
    } catch (error) {
      throw new StoreError(
        "unsafe_key",
        "A public key block cannot be read: use the .pub file of the state directory.",
        {
          cause: error,
        },
      );
    }
  }
  if (keys.size === 0) {
    throw new StoreError("unsafe_key", "No Ed25519 public key was found: use the .pub file of the state directory.");
  }
  return verifierOf(keys);
}

function verifierOf(keys: ReadonlyMap<string, KeyObject>): Verifier {
  return {
    knows: (keyId) => keys.has(keyId),
    verify: (keyId, message, signature) => {
      const key = keys.get(keyId);
      return key !== undefined && verify(null, message, key, signature);
    },
    learn: (text) => {
      const key = publicKeyOf(text);
      if (key === undefined) return undefined;
      const keyId = keyIdOf(key);
      return { keyId, verifier: verifierOf(new Map([[keyId, key]])) };
    },
  };
}

/** @param text SPKI, DER, base64, from an untrusted file */
function publicKeyOf(text: string): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(text, "base64"), format: "der", type: "spki" });
    return key.asymmetricKeyType === "ed25519" ? key : undefined;
  } catch {
    return undefined;
  }
}

function keyIdOf(publicKey: KeyObject): string {
  const spki = publicKey.export({ type: "spki", format: "der" });
  return createHash("sha256").update(spki).digest("hex").slice(0, 16);
}

/** Creates a key (0600, synced). With `replace`, it replaces an existing one; otherwise a key that another process made stays. */
export async function createKey(file: string, { replace }: { readonly replace: boolean }): Promise<void> {
  const pem = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" });
  await (replace ? replaceFile(file, pem, { durable: true }) : createFile(file, pem));
  await syncDirectory(dirname(file));
}

/** Undefined if there is none. */
function readPrivateFile(file: string): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    if (hasCode(error, "ELOOP")) throw unsafeKey(file, "is a symbolic link", { cause: error });
    throw error;
  }
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile()) throw unsafeKey(file, "is not a regular file");
    const self = process.getuid?.();
    if (self !== undefined && status.uid !== self) throw unsafeKey(file, `belongs to another user (uid ${status.uid})`);
    if (self !== undefined && (status.mode & 0o177) !== 0) {
      throw unsafeKey(file, `has mode ${(status.mode & 0o777).toString(8)}, wider than 600`);
    }
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}

const publicFile = { durable: true, mode: 0o644 };

/** Adds a public key before the existing ones, which stay so that old records verify. */
export async function publishBefore(file: string, pem: string): Promise<void> {
  const before = await readFile(file, "utf8").catch(() => "");
  if (!before.includes(pem)) await replaceFile(file, pem + before, publicFile);
}

/** A key without a hand-over is not linked to earlier keys, which must not vouch for its signatures. */
async function publishFirst(file: string, pem: string): Promise<void> {
  const there = await readFile(file, "utf8").catch(() => "");
  if (!there.includes(pem)) await replaceFile(file, pem, publicFile);
}

function unsafeKey(file: string, what: string, options?: ErrorOptions): StoreError {
  return new StoreError(
    "unsafe_key",
    `The ledger's key ${file} ${what}: others may know it. Move it away, keep its .pub file for old ledgers, and start again.`,
    options,
  );
}

/** Makes the signer use the newest key named in the store. */
export function useKeyInForce(signer: LedgerSigner, connection: SqliteConnection): void {
  const hasKeys = connection.prepare("SELECT 1 FROM sqlite_master WHERE name = 'ledger_keys'").get() !== undefined;
  const row = hasKeys
    ? connection.prepare("SELECT key_id FROM ledger_keys ORDER BY number DESC LIMIT 1").get()
    : undefined;
  if (row !== undefined) signer.use(textOf(row, "key_id"));
}
