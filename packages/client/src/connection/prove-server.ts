import { base64Encode } from "@bufbuild/protobuf/wire";
import { challengePath, proofSyntax, serverProof } from "@gennai/protocol/server-proof";
import * as z from "zod/mini";
import { fetchOrHostRefusal } from "./fetch-or-host-refusal.ts";
import { rootReason } from "./root-reason.ts";

/**
 * What is at an address:
 * - `proven`: a Gennai server that knows this token
 * - `other-token`: a Gennai server that knows another token
 * - `stranger`: another program, or a Gennai without this proof
 * - `nobody`: nothing answers in time
 */
export type ServerProof =
  | { readonly type: "proven" | "other-token" | "stranger" }
  | { readonly type: "nobody"; readonly reason: string };

const answerSchema = z.object({ proof: z.string().check(z.regex(proofSyntax)) });
const answerBytes = 1024;
const answerMs = 3000;

/**
 * Has the server at `url` prove that it knows the token, before it sees it: nothing of the token is sent. By https its
 * certificate says who it is, and it is asked whether it takes the token: a server of many users shares no secret with them.
 * Without a token it only tells whether Gennai is there. Rejects only when the signal aborts.
 */
export async function proveServer(
  url: string,
  token: string | undefined,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<ServerProof> {
  const timeout = AbortSignal.timeout(answerMs);
  const signal = options.signal === undefined ? timeout : AbortSignal.any([options.signal, timeout]);
  try {
    if (token !== undefined && new URL(url).protocol === "https:") return await byCertificate(url, token, signal);
    return await byChallenge(new URL(challengePath, url), token, signal);
  } catch (error) {
    options.signal?.throwIfAborted();
    return { type: "nobody", reason: rootReason(error) || String(error) };
  }
}

async function byChallenge(address: URL, token: string | undefined, signal: AbortSignal): Promise<ServerProof> {
  const nonce = base64Encode(crypto.getRandomValues(new Uint8Array(32)), "url");
  const { status, body } = await ask(address, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ nonce }),
    signal,
  });
  const proof = status === 200 ? proofIn(body) : undefined;
  if (proof === undefined) return { type: "stranger" };
  // Each nonce is answered once, so the time reveals nothing about the next answer.
  const proven = token !== undefined && proof === serverProof(token, address.host, nonce);
  return { type: proven ? "proven" : "other-token" };
}

async function byCertificate(url: string, token: string, signal: AbortSignal): Promise<ServerProof> {
  const headers = { Authorization: `Bearer ${token}` };
  const { status, body } = await ask(new URL("/health", url), { headers, signal });
  if (status === 401) return { type: "other-token" };
  return { type: status === 200 && body?.includes('"protocolVersion"') === true ? "proven" : "stranger" };
}

/** `body` is undefined when there is more than 1 KiB. */
async function ask(
  address: URL,
  request: RequestInit,
): Promise<{ readonly status: number; readonly body: string | undefined }> {
  const response = await fetchOrHostRefusal(address, { ...request, redirect: "manual", credentials: "omit" });
  return { status: response.status, body: await textOf(response) };
}

async function textOf(response: Response): Promise<string | undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    bytes += part.value.byteLength;
    if (bytes > answerBytes) {
      await reader.cancel();
      return undefined;
    }
    text += decoder.decode(part.value, { stream: true });
  }
  return text + decoder.decode();
}

function proofIn(body: string | undefined): string | undefined {
  try {
    return answerSchema.safeParse(JSON.parse(body ?? "")).data?.proof;
  } catch {
    return undefined;
  }
}
