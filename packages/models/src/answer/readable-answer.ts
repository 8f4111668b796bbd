import { ModelError } from "@gennai/agent/model";

/** Bytes of one answer: many times what a model can write, and far from what a process can hold. */
const mostBytes = 128 * 1024 * 1024;
/** Bytes of blanks at the beginning, behind which nobody looks for what it is. */
const mostBlank = 64 * 1024;

/**
 * An answer to a request for a stream, as the provider libraries can read it. They find nothing in a whole JSON object, so an error
 * that comes as one, with a status that says that all is well, gets the status of an error. Throws `ModelError` (`bad_response`)
 * for a web page; so does the body, when there is no end of it.
 */
export async function readableAnswer(response: Response, url: string): Promise<Response> {
  if (response.body === null) return response;
  const { origin } = new URL(url);
  const body = bounded(response.body, origin);
  if (!response.ok) return sameWith(body, response);
  const reader = body.getReader();
  const begun: Uint8Array[] = [];
  let first = "";
  let blank = 0;
  while (first === "" && blank < mostBlank) {
    const { done, value } = await reader.read();
    if (done) break;
    begun.push(value);
    blank += value.byteLength;
    first = /[^\s\ufeff]/.exec(Buffer.from(value).toString("utf8"))?.[0] ?? "";
  }
  if (first === "<") {
    void reader.cancel().catch(() => undefined);
    throw new ModelError("bad_response", `${origin} sent a web page in place of an answer.`, {
      hint: "Check the address of the model; a proxy, or a network that asks for a login, may have answered in its place.",
      retryable: true,
    });
  }
  if (first !== "{") return sameWith(joined(begun, reader), response);
  const text = await new Response(joined(begun, reader)).text();
  const status = statusOfError(text);
  return status === undefined ? sameWith(text, response) : new Response(text, { status, headers: response.headers });
}

function sameWith(body: ReadableStream<Uint8Array> | string, { status, statusText, headers }: Response): Response {
  return new Response(body, { status, statusText, headers });
}

function bounded(body: ReadableStream<Uint8Array>, origin: string): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let bytes = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) return controller.close();
      bytes += value.byteLength;
      if (bytes <= mostBytes) return controller.enqueue(value);
      void reader.cancel().catch(() => undefined);
      throw new ModelError("bad_response", `${origin} sent an answer without an end: more than 128 MiB.`, {
        hint: "The server may be broken; see its log.",
      });
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** What was read already, and the rest behind it. */
function joined(
  begun: readonly Uint8Array[],
  reader: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  const waiting = [...begun];
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = waiting.shift();
      if (next !== undefined) return controller.enqueue(next);
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Of HTTP, as the error says it or as a fault of the server's; undefined for what is no error. */
function statusOfError(text: string): number | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  const error = typeof parsed === "object" && parsed !== null && "error" in parsed ? parsed.error : undefined;
  if (error === undefined || error === null || error === false) return undefined;
  const codes = typeof error === "object" ? [Reflect.get(error, "code"), Reflect.get(error, "status")] : [];
  return codes.map(Number).find((code) => Number.isInteger(code) && code >= 400 && code < 600) ?? 500;
}
