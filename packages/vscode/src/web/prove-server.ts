import * as z from "zod/mini";
import type { ServerProof } from "../server/prove-server.ts";

const answerSchema = z.object({ proof: z.base64url() });
const bodyLimit = 1024;
const patience = 3000;

/**
 * What `server/prove-server.ts` does, by fetch and Web Crypto. The server has to allow this window's origin, else the browser
 * keeps its answer back.
 */
export async function proveServer(
  url: string,
  token: string | undefined,
  options: { readonly signal: AbortSignal },
): Promise<ServerProof> {
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(patience)]);
  try {
    // The certificate says who it is, before the token is sent.
    if (token !== undefined && new URL(url).protocol === "https:") return await byCertificate(url, token, signal);
    return await byChallenge(new URL("/challenge", url), token, signal);
  } catch (error) {
    options.signal.throwIfAborted();
    const { origin } = globalThis.location ?? { origin: "this window's origin" };
    const why = error instanceof Error ? error.message : String(error);
    return { type: "nobody", reason: `${why} If it runs, it may not allow ${origin}: gennai serve --allow-origin` };
  }
}

async function byCertificate(url: string, token: string, signal: AbortSignal): Promise<ServerProof> {
  const response = await fetch(new URL("/health", url), {
    headers: { Authorization: `Bearer ${token}` },
    signal,
    redirect: "error",
    credentials: "omit",
  });
  if (response.status === 401) return { type: "other-token" };
  const body = response.status === 200 ? await textOf(response) : undefined;
  return { type: body?.includes('"protocolVersion"') === true ? "proven" : "stranger" };
}

async function byChallenge(address: URL, token: string | undefined, signal: AbortSignal): Promise<ServerProof> {
  const nonce = base64url(crypto.getRandomValues(new Uint8Array(32)));
  const response = await fetch(address, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ nonce }),
    signal,
    redirect: "error",
    credentials: "omit",
  });
  const answer = response.status === 200 ? parsed(await textOf(response)) : undefined;
  const proof = answer === undefined ? undefined : fromBase64url(answer.proof);
  if (proof?.byteLength !== 32) return { type: "stranger" };
  if (token === undefined) return { type: "other-token" };
  const encoder = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(token), algorithm, false, ["verify"]);
  const text = encoder.encode(`gennai-server-proof:${address.host.toLowerCase()}:${nonce}`);
  return { type: (await crypto.subtle.verify("HMAC", key, proof, text)) ? "proven" : "other-token" };
}

/** undefined when there is more than 1 KiB. */
async function textOf(response: Response): Promise<string | undefined> {
  const text = await response.text();
  return text.length > bodyLimit ? undefined : text;
}

function parsed(body: string | undefined): z.infer<typeof answerSchema> | undefined {
  try {
    return answerSchema.safeParse(JSON.parse(body ?? "")).data;
  } catch {
    return undefined;
  }
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

function fromBase64url(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
}
