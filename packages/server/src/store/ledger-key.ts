import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from "node:crypto";
import { constants } from "node:fs";
import { link, mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Signer, Verifier } from "@gennai/governance/ledger/ledger-signature";
import { syncDirectory } from "./state-directory.ts";
import { hasCode, StoreError } from "./store-error.ts";

export function ledgerPublicKeyFile(stateDir: string): string {
  return join(stateDir, "keys", "ledger.ed25519.pub");
}

/**
 * The state directory's signing key, made on first use; of several processes that make it at once, one wins.
 * Rejects with `StoreError` `unsafe_key` when anybody else could have read or replaced it.
 */
export async function openLedgerSigner(stateDir: string): Promise<Signer> {
  const file = join(stateDir, "keys", "ledger.ed25519");
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const pem = (await readPrivateFile(file)) ?? (await createKey(file));
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (error) {
    throw unsafeKey(file, "is no private key", { cause: error });
  }
  if (key.asymmetricKeyType !== "ed25519") throw unsafeKey(file, "is not an Ed25519 key");
  const publicKey = createPublicKey(key);
  await publish(ledgerPublicKeyFile(stateDir), publicKey);
  return { keyId: keyIdOf(publicKey), sign: (message) => sign(null, message, key) };
}

/**
 * Knows the Ed25519 public keys of a text with one or more SPKI PEM blocks.
 * Throws `StoreError` `unsafe_key` when there is none.
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
  return {
    knows: (keyId) => keys.has(keyId),
    verify: (keyId, message, signature) => {
      const key = keys.get(keyId);
      return key !== undefined && verify(null, message, key, signature);
    },
  };
}

function keyIdOf(publicKey: KeyObject): string {
  const spki = publicKey.export({ type: "spki", format: "der" });
  return createHash("sha256").update(spki).digest("hex").slice(0, 16);
}

async function createKey(file: string): Promise<string> {
  const { privateKey } = generateKeyPairSync("ed25519");
  const temporary = `${file}.${process.pid}.${randomBytes(6).toString("hex")}`;
  try {
    const handle = await open(temporary, "wx", 0o600);
    try {
      await handle.writeFile(privateKey.export({ type: "pkcs8", format: "pem" }));
      await handle.sync();
    } finally {
      await handle.close();
    }
    // Unlike a rename, a link never replaces the key another process made meanwhile.
    await link(temporary, file);
    await syncDirectory(dirname(file));
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  } finally {
    await rm(temporary, { force: true });
  }
  const pem = await readPrivateFile(file);
  if (pem === undefined) throw unsafeKey(file, "vanished while it was made");
  return pem;
}

/** undefined when there is none. */
async function readPrivateFile(file: string): Promise<string | undefined> {
  try {
    const handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      const status = await handle.stat();
      if (!status.isFile()) throw unsafeKey(file, "is not a regular file");
      const self = process.getuid?.();
      if (self !== undefined && status.uid !== self)
        throw unsafeKey(file, `belongs to another user (uid ${status.uid})`);
      if (self !== undefined && (status.mode & 0o177) !== 0) {
        throw unsafeKey(file, `has mode ${(status.mode & 0o777).toString(8)}, wider than 600`);
      }
      return await handle.readFile("utf8");
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    if (hasCode(error, "ELOOP")) throw unsafeKey(file, "is a symbolic link", { cause: error });
    throw error;
  }
}

async function publish(file: string, publicKey: KeyObject): Promise<void> {
  const pem = publicKey.export({ type: "spki", format: "pem" }).toString();
  if ((await readFile(file, "utf8").catch(() => undefined)) === pem) return;
  const temporary = `${file}.${process.pid}.${randomBytes(6).toString("hex")}`;
  const handle = await open(temporary, "wx", 0o644);
  try {
    await handle.writeFile(pem);
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
}

function unsafeKey(file: string, what: string, options?: ErrorOptions): StoreError {
  return new StoreError(
    "unsafe_key",
    `The ledger's key ${file} ${what}: others may know it. Move it away, keep its .pub file for old ledgers, and start again.`,
    options,
  );
}
