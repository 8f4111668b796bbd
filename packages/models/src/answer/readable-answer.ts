import { ModelError } from "@gennai/agent/model";
import { parsedJson, recordOf } from "@gennai/protocol/json-value";
import { type AnswerBytes, joined, textOf } from "./answer-bytes.ts";

/** Bytes of one answer: many times what a model can write, and far from what a process can hold. */
const mostBytes = 128 * 1024 * 1024;
/** Bytes of blanks at the beginning, behind which nobody looks for what it is. */
const mostBlank = 64 * 1024;

export interface ReadableAnswer {
  readonly status: number;
  readonly bytes: AnswerBytes;
}

/**
 * An answer to a request for a stream, as it can be read on. Nobody finds anything in a whole JSON object, so an error
 * that comes as one, with a status that says that all is well, gets the status of an error. Throws `ModelError` (`bad_response`)
 * for a web page; so do the bytes, when there is no end of them.
 */
export async function readableAnswer({ status, bytes }: ReadableAnswer, url: string): Promise<ReadableAnswer> {
  const { origin } = new URL(url);
  const body = bounded(bytes, origin);
  if (status < 200 || status > 299) return { status, bytes: body };
  const begun: Uint8Array[] = [];
  let first = "";
  let blank = 0;
  while (first === "" && blank < mostBlank) {
    const { done, value } = await body.read();
    if (done || value === undefined) break;
    begun.push(value);
    blank += value.byteLength;
    first = firstLetter(value);
  }
  if (first === "<") {
    abandon(body);
    throw new ModelError("bad_response", `${origin} sent a web page in place of an answer.`, {
      hint: "Check the address of the model. A proxy, or a network that wants a login, may have answered.",
      retryable: true,
    });
  }
  const whole = joined(begun, body);
  if (first !== "{") return { status, bytes: whole };
  const text = await textOf(whole);
  return { status: statusOfError(text) ?? status, bytes: joined([Buffer.from(text)], body) };
}

/** The first that is no blank; empty without one. */
function firstLetter(bytes: Uint8Array): string {
  // Of a stream of events it is the first byte, and of a long piece nobody looks at more.
  if (bytes[0] === "d".charCodeAt(0)) return "d";
  return /[^\s\ufeff]/.exec(Buffer.from(bytes).toString("utf8"))?.[0] ?? "";
}

function bounded(bytes: AnswerBytes, origin: string): AnswerBytes {
  let length = 0;
  return {
    async read() {
      const next = await bytes.read();
      length += next.value?.byteLength ?? 0;
      if (length <= mostBytes) return next;
      abandon(bytes);
      throw new ModelError("bad_response", `${origin} sent an answer without an end: more than 128 MiB.`, {
        hint: "The server may be broken; see its log.",
      });
    },
    cancel: () => bytes.cancel(),
  };
}

/** What goes wrong with what nobody reads is not told. */
function abandon(bytes: AnswerBytes): void {
  void Promise.resolve(bytes.cancel()).catch(() => undefined);
}

/** Of HTTP, as the error says it or as a fault of the server's; undefined for what is not an error. */
function statusOfError(text: string): number | undefined {
  const { error } = recordOf(parsedJson(text));
  if (error === undefined || error === null || error === false) return undefined;
  // So LM Studio says it of an address without /v1.
  if (typeof error === "string" && /unexpected endpoint/i.test(error)) return 404;
  const codes = typeof error === "object" ? [Reflect.get(error, "code"), Reflect.get(error, "status")] : [];
  return codes.map(Number).find((code) => Number.isInteger(code) && code >= 400 && code < 600) ?? 500;
}
