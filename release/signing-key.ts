import { execFileSync } from "node:child_process";
import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createKey } from "../packages/store/src/ledger/ledger-key.ts";
import { ReleaseError } from "./release-error.ts";
import { keyIdOf, payloadType, signedMessage, statementType } from "./verify.mjs";

/** What is said of files. */
export interface Statement {
  readonly subject: readonly { readonly name: string; readonly digest: { readonly sha256: string } }[];
  readonly predicateType: string;
  readonly predicate: object;
}

/** Signs what a release publishes. */
export interface SigningKey {
  readonly keyId: string;
  /** SPKI PEM. */
  readonly publicPem: string;
  /** A statement of in-toto in a signed envelope of DSSE, as a line. */
  attest(statement: Statement): string;
}

export function privateKeyFile(directory: string): string {
  return join(directory, "release.ed25519");
}

/**
 * Makes `release.ed25519` (0600) and `release.ed25519.pub` in a directory of the releaser's own. Rejects with `ReleaseError` when
 * a key lies there already, or when the directory is in a checkout: a private key must never be committed.
 */
export async function makeSigningKey(directory: string): Promise<SigningKey> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (isInCheckout(directory)) {
    throw new ReleaseError(`${directory} is in a git checkout: choose a directory of your own, outside of every one.`);
  }
  const file = privateKeyFile(directory);
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) {
    throw new ReleaseError(`There is a key already: ${file}. Use it, or name another directory.`);
  }
  await createKey(file, { replace: false });
  const key = readSigningKey(file);
  writeFileSync(`${file}.pub`, key.publicPem);
  return key;
}

/** Throws `ReleaseError` if there is none, or if others can read it. */
export function readSigningKey(file: string): SigningKey {
  const status = lstatSync(file, { throwIfNoEntry: false });
  if (status?.isFile() !== true) {
    throw new ReleaseError(`There is no key ${file}: make one with npm run release:key -- DIRECTORY.`);
  }
  const self = process.getuid?.();
  if (self !== undefined && (status.uid !== self || (status.mode & 0o077) !== 0)) {
    throw new ReleaseError(`Others can read or replace ${file}: make a new key, and withdraw this one.`);
  }
  const privateKey = privateKeyOf(file);
  const publicKey = createPublicKey(privateKey);
  const keyId = keyIdOf(publicKey);
  return {
    keyId,
    publicPem: publicKey.export({ type: "spki", format: "pem" }).toString(),
    attest(statement) {
      const payload = Buffer.from(JSON.stringify({ _type: statementType, ...statement }));
      const signature = { keyid: keyId, sig: sign(null, signedMessage(payload), privateKey).toString("base64") };
      return `${JSON.stringify({ payloadType, payload: payload.toString("base64"), signatures: [signature] })}\n`;
    },
  };
}

function privateKeyOf(file: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(readFileSync(file));
  } catch (error) {
    throw new ReleaseError(`${file} is not a private key.`, { cause: error });
  }
  if (key.asymmetricKeyType !== "ed25519") throw new ReleaseError(`${file} is not an Ed25519 key.`);
  return key;
}

function isInCheckout(directory: string): boolean {
  try {
    execFileSync("git", ["rev-parse", "--git-dir"], { cwd: directory, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
