import { APICallError, EmptyResponseBodyError, type LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { sendParts } from "../request/send-parts.ts";
import { bytesOf, textOf } from "./answer-bytes.ts";
import { readChatAnswer } from "./chat-answer.ts";
import { redirected, redirections } from "./fetch-from-server.ts";
import { readableAnswer } from "./readable-answer.ts";

export interface ChatRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON in parts. */
  readonly body: readonly Uint8Array[];
  readonly signal: AbortSignal;
}

/** POSTs it, and gives what is answered as it comes. Throws `APICallError` for a refusal, as the provider libraries do. */
export async function askChat({
  url,
  headers,
  body,
  signal,
}: ChatRequest): Promise<AsyncIterable<LanguageModelV4StreamPart>> {
  const posted = await sendParts(url, body, { headers, signal });
  const cancel = () => posted.body.destroy();
  if (redirections.has(posted.status)) {
    cancel();
    throw redirected(posted.status, posted.headers["location"] ?? null, url);
  }
  if (bodiless.has(posted.status)) throw new EmptyResponseBodyError();
  const sent = bytesOf(posted.body[Symbol.asyncIterator](), cancel);
  const { status, bytes } = await readableAnswer({ status: posted.status, bytes: sent }, url);
  if (status >= 200 && status <= 299) return readChatAnswer(bytes);
  throw new APICallError({
    message: `HTTP ${status}`,
    url,
    requestBodyValues: {},
    statusCode: status,
    responseHeaders: { ...posted.headers },
    responseBody: await textOf(bytes),
  });
}

const bodiless: ReadonlySet<number> = new Set([204, 205]);
