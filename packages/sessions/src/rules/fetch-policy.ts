import { join } from "node:path";
import { verifySignedPolicy } from "@gennai/governance/limits/signed-policy";
import { readRootFile, writeRootFile } from "@gennai/machine/config/root-file";
import { ledgerVerifier } from "@gennai/store/ledger/ledger-key";
import { readPolicy } from "./managed-policy.ts";

const maxBytes = 256 * 1024;

export interface FetchedPolicy {
  readonly file: string;
  readonly name: string;
  readonly serial: number;
  /** Whether it is another one than was there. */
  readonly isNew: boolean;
}

/**
 * Gets a signed policy and puts it in the place of the one that was fetched before, at once. Rejects with `Error`, and leaves what is there,
 * if it cannot be had, is not signed by the key, is not in its time, cannot be used, or is older than what is there.
 *
 * @param wanted.keys trusted public keys, PEM
 * @param wanted.directory root's `policy.d`
 * @param wanted.read reads what is there; only what belongs to root, by default
 * @param now milliseconds since the epoch
 */
export async function fetchPolicy(
  wanted: {
    readonly url: URL;
    readonly keys: string;
    readonly directory: string;
    readonly read?: (file: string) => Promise<string | undefined>;
  },
  now: number,
): Promise<FetchedPolicy> {
  const { url, keys, directory, read = readRootFile } = wanted;
  const file = join(directory, "fetched.yaml");
  const value = parsed(await textAt(url), url);
  const {
    name,
    serial = 0,
    issued = 0,
    expires = 0,
  } = await verifySignedPolicy(value, ledgerVerifier(keys), {
    holder: "root",
    file: url.href,
  });
  if (now < issued) throw new Error("it is not valid yet; set this machine's clock, or wait");
  if (now >= expires) throw new Error(`it expired on ${new Date(expires).toISOString().slice(0, 10)}; renew it there`);
  const { key_id: _key, signature: _signature, ...document } = value;
  const text = `${JSON.stringify(document, undefined, 2)}\n...\n`;
  await readPolicy(text, file);
  const there = await read(file);
  if (there === text) return { file, name, serial, isNew: false };
  const before = there === undefined ? 0 : ((await readPolicy(there, file)).serial ?? 0);
  if (serial <= before) throw new Error(`its serial is ${serial}, and ${before} is in force; count it up`);
  await writeRootFile(file, text);
  return { file, name, serial, isNew: true };
}

/** Follows no redirect: the key vouches for the text, and the address for whom it is asked of. */
async function textAt(url: URL): Promise<string> {
  const isLocal = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url.protocol !== "https:" && !isLocal)
    throw new Error("the address does not begin with https; name one that does");
  const answer = await fetch(url, { redirect: "error", headers: { accept: "application/json" } });
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  let text = "";
  for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream("utf-8", { fatal: true })) ?? []) {
    text += chunk;
    if (text.length > maxBytes) throw new Error(`it is larger than ${maxBytes / 1024} KiB`);
  }
  return text;
}

function parsed(text: string, url: URL): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Said below.
  }
  throw new Error(`${url.href} is no signed policy; put there what gennai policy sign prints`);
}
