import { readFileSync, statSync } from "node:fs";
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
} from "jose";
import * as z from "zod";

/** The issuer's keys are unavailable: tokens can be neither accepted nor refused. */
export class KeysUnavailable extends Error {
  override readonly name = "KeysUnavailable";
}

/** Milliseconds. */
export interface KeyTiming {
  /** How long keys are used before they are fetched again. Default 10 minutes. */
  readonly maxAge?: number;
  /** How long an unknown key, or a failed fetch, leads to no other fetch. Default 30 s, and 5 s. */
  readonly cooldown?: number;
  readonly failureCooldown?: number;
  /** Monotonic. */
  readonly now?: () => number;
}

const fetchTimeoutMs = 5_000;
const jwksSchema = z.object({ keys: z.array(z.record(z.string(), z.unknown())) });
const configurationSchema = z.object({ issuer: z.string(), jwks_uri: z.string() });

/**
 * Keys at a URL, fetched when needed: at first, when they are old, and when a token names an unknown key. Rejects with
 * `KeysUnavailable` if they cannot be fetched and the known ones are too old.
 */
export function keysAt(url: URL, timing: KeyTiming = {}): JWTVerifyGetKey {
  const remote = createRemoteJWKSet(url, {
    timeoutDuration: fetchTimeoutMs,
    cooldownDuration: timing.cooldown ?? 30_000,
    cacheMaxAge: timing.maxAge ?? 600_000,
    [customFetch]: patiently(timing),
  });
  return async (header, token) => unlessUnavailable(() => remote(header, token));
}

/**
 * Keys of an issuer that says itself where they are (`/.well-known/openid-configuration`). It is asked once it is needed, and
 * must name itself as it was named to us.
 */
export function keysOfIssuer(issuer: string, timing: KeyTiming = {}): JWTVerifyGetKey {
  const ask = patiently(timing);
  let found: Promise<JWTVerifyGetKey> | undefined;
  const discover = async (): Promise<JWTVerifyGetKey> => {
    const address = `${issuer.replace(/\/+$/, "")}/.well-known/openid-configuration`;
    const response = await ask(address, {
      headers: new Headers({ Accept: "application/json" }),
      method: "GET",
      redirect: "manual",
      signal: AbortSignal.timeout(fetchTimeoutMs),
    });
    const configuration = configurationSchema.safeParse(response.status === 200 ? await response.json() : undefined);
    if (!configuration.success) throw new KeysUnavailable("The issuer does not say where its keys are.");
    if (configuration.data.issuer !== issuer) throw new KeysUnavailable("The issuer names itself differently.");
    return keysAt(keyUrl(configuration.data.jwks_uri), timing);
  };
  return async (header, token) => {
    found ??= discover();
    const keys = await unlessUnavailable(() => found ?? discover()).catch((error: unknown) => {
      found = undefined;
      throw error;
    });
    return keys(header, token);
  };
}

/**
 * Keys in a file, read again when it changes. Throws `TypeError` if there are none at first; rejects with `KeysUnavailable` if
 * it cannot be read later: removed keys must not stay valid.
 */
export function keysInFile(file: string): JWTVerifyGetKey {
  let read = readKeys(file);
  return async (header, token) => {
    try {
      if (read.stamp !== stampOf(file)) read = readKeys(file);
    } catch (cause) {
      throw new KeysUnavailable("The file of keys cannot be read.", { cause });
    }
    return read.keys(header, token);
  };
}

/** Throws `TypeError` unless the keys cannot be replaced on the way: https, or this machine. */
export function keyUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLoopback = ["localhost", "127.0.0.1", "[::1]"].includes(url?.hostname ?? "");
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback)) return url;
  throw new TypeError(`${JSON.stringify(text)} is not an https URL: keys that arrive unencrypted could be forged.`);
}

function readKeys(file: string): { readonly stamp: string; readonly keys: JWTVerifyGetKey } {
  const stamp = stampOf(file);
  const parsed = jwksSchema.safeParse(JSON.parse(readFileSync(file, "utf8")));
  if (!parsed.success || parsed.data.keys.length === 0) throw new TypeError(`${file} holds no JSON Web Key Set.`);
  if (parsed.data.keys.some((key) => key["kty"] === "oct" || "d" in key)) {
    throw new TypeError(`${file} holds a secret key: put the issuer's public keys there, and nothing else.`);
  }
  const set: JSONWebKeySet = { keys: parsed.data.keys.map((key) => ({ kty: "", ...key })) };
  return { stamp, keys: createLocalJWKSet(set) };
}

function stampOf(file: string): string {
  const { mtimeNs, size, ino } = statSync(file, { bigint: true });
  return `${mtimeNs} ${size} ${ino}`;
}

/** After a failure, no request is sent for a while: a caller who sends many tokens must not cause many requests. */
function patiently({ failureCooldown = 5_000, now = () => performance.now() }: KeyTiming) {
  let failedAt: number | undefined;
  return async (
    url: string,
    options: { headers: Headers; method: "GET"; redirect: "manual"; signal: AbortSignal },
  ): Promise<Response> => {
    if (failedAt !== undefined && now() - failedAt < failureCooldown) {
      throw new KeysUnavailable("The issuer did not answer a moment ago.");
    }
    try {
      const response = await fetch(url, options);
      failedAt = response.status === 200 ? undefined : now();
      return response;
    } catch (cause) {
      failedAt = now();
      throw new KeysUnavailable("The issuer does not answer.", { cause });
    }
  };
}

/** Errors about the token are passed on; all others mean that no keys are available. */
async function unlessUnavailable<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    const isAboutToken = error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys;
    if (isAboutToken || error instanceof errors.JOSENotSupported || error instanceof KeysUnavailable) throw error;
    throw new KeysUnavailable("The issuer's keys cannot be fetched.", { cause: error });
  }
}
