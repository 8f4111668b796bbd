import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import * as z from "zod/mini";

/**
 * What sits at an address:
 * - `proven`: a Gennai server that knows this token
 * - `other-token`: one that answers like Gennai and knows another token
 * - `stranger`: something else, or a Gennai older than the proof
 * - `nobody`: nothing listens there
 */
export type ServerProof =
  | { readonly type: "proven" | "other-token" | "stranger" }
  | { readonly type: "nobody"; readonly reason: string };

const answerSchema = z.object({ proof: z.base64url() });
const bodyLimit = 1024;

/**
 * Has the server at `url` prove that it knows the token. Nothing of the token is sent: the answer must be the HMAC-SHA256,
 * with the token as key, over `gennai-server-proof:<host>:<nonce>`. Without a token it only tells whether Gennai is there.
 * Rejects only when the signal aborts.
 */
export async function proveServer(
  url: string,
  token: string | undefined,
  options: { readonly signal: AbortSignal },
): Promise<ServerProof> {
  if (token !== undefined && new URL(url).protocol === "https:") return proveByCertificate(url, token, options);
  const address = new URL("/challenge", url);
  const nonce = randomBytes(32).toString("base64url");
  try {
    const { status, body } = await post(address, JSON.stringify({ nonce }), options);
    const answer = status === 200 ? parseAnswer(body) : undefined;
    if (answer === undefined) return { type: "stranger" };
    const proof = Buffer.from(answer.proof, "base64url");
    if (proof.byteLength !== 32) return { type: "stranger" };
    if (token === undefined) return { type: "other-token" };
    const expected = createHmac("sha256", token)
      .update(`gennai-server-proof:${address.host.toLowerCase()}:${nonce}`)
      .digest();
    return { type: timingSafeEqual(proof, expected) ? "proven" : "other-token" };
  } catch (error) {
    options.signal.throwIfAborted();
    return { type: "nobody", reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Its certificate says who it is, before the token is sent. A server of many users shares no secret with them to prove. */
async function proveByCertificate(
  url: string,
  token: string,
  options: { readonly signal: AbortSignal },
): Promise<ServerProof> {
  try {
    const headers = { Authorization: `Bearer ${token}` };
    const { status, body } = await send(new URL("/health", url), { method: "GET", headers }, "", options);
    if (status === 401) return { type: "other-token" };
    return { type: status === 200 && body?.includes('"protocolVersion"') === true ? "proven" : "stranger" };
  } catch (error) {
    options.signal.throwIfAborted();
    return { type: "nobody", reason: error instanceof Error ? error.message : String(error) };
  }
}

const patience = 3000;

function post(
  address: URL,
  body: string,
  options: { readonly signal: AbortSignal },
): Promise<{ readonly status: number; readonly body: string | undefined }> {
  return send(address, { method: "POST", headers: { "Content-Type": "application/json" } }, body, options);
}

async function send(
  address: URL,
  { method, headers }: { readonly method: string; readonly headers: Readonly<Record<string, string>> },
  body: string,
  options: { readonly signal: AbortSignal },
): Promise<{ readonly status: number; readonly body: string | undefined }> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = address.protocol === "https:" ? requestHttps : requestHttp;
  const outgoing = request(address, {
    method,
    headers: { ...headers, Connection: "close" },
    agent: false,
    signal: AbortSignal.any([options.signal, AbortSignal.timeout(patience)]),
  });
  outgoing.once("response", resolve).once("error", reject).end(body);
  try {
    const response = await promise;
    return { status: response.statusCode ?? 0, body: await readBody(response) };
  } finally {
    outgoing.destroy();
  }
}

/** undefined when there is more than 1 KiB. */
async function readBody(message: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  const incoming: AsyncIterable<Buffer> = message.iterator({ destroyOnReturn: false });
  for await (const bytes of incoming) {
    size += bytes.byteLength;
    if (size > bodyLimit) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseAnswer(body: string | undefined): z.infer<typeof answerSchema> | undefined {
  try {
    return answerSchema.safeParse(JSON.parse(body ?? "")).data;
  } catch {
    return undefined;
  }
}
