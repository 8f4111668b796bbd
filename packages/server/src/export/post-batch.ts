import { readFile } from "node:fs/promises";
import * as http from "node:http";
import * as https from "node:https";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { ExportDestination } from "@gennai/governance/limits/export-schema";
import { errorMessage } from "@gennai/protocol/error-message";
import type { Delivery } from "./delivery.ts";

const compress = promisify(gzip);
/** Statuses after which OTLP's specification lets a client send again. */
const again: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const maxAnswerBytes = 65_536;

export interface Posted {
  readonly delivery: Delivery;
  readonly answer: Uint8Array;
}

/** Sends a body by POST, compressed; 2xx takes it. Follows no redirect. */
export async function postBatch(
  destination: Pick<ExportDestination, "headers_file" | "ca_file">,
  request: { readonly url: URL; readonly type: string; readonly body: Uint8Array; readonly signal: AbortSignal },
): Promise<Posted> {
  const nothing = new Uint8Array();
  try {
    const [body, headers, ca] = await Promise.all([
      compress(request.body),
      destination.headers_file === undefined ? {} : headersIn(destination.headers_file),
      destination.ca_file === undefined ? undefined : readFile(destination.ca_file),
    ]);
    const { status, after, answer } = await posted(request, { body, headers, ca });
    if (status >= 200 && status < 300) return { delivery: { type: "taken" }, answer };
    const why = `it answered ${status}`;
    if (!again.has(status)) return { delivery: { type: "refused", why }, answer };
    return { delivery: { type: "later", why, afterMs: waitOf(after) }, answer };
  } catch (error) {
    request.signal.throwIfAborted();
    return { delivery: { type: "later", why: errorMessage(error) }, answer: nothing };
  }
}

function posted(
  { url, type, signal }: { readonly url: URL; readonly type: string; readonly signal: AbortSignal },
  sent: {
    readonly body: Uint8Array;
    readonly headers: Readonly<Record<string, string>>;
    readonly ca: Buffer | undefined;
  },
): Promise<{ readonly status: number; readonly after: string | undefined; readonly answer: Uint8Array }> {
  const headers = {
    ...sent.headers,
    "content-type": type,
    "content-encoding": "gzip",
    "content-length": String(sent.body.length),
  };
  const options = { method: "POST", headers, signal, agent: false, ...(sent.ca === undefined ? {} : { ca: sent.ca }) };
  return new Promise((resolve, reject) => {
    const request = (url.protocol === "https:" ? https : http).request(url, options, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size <= maxAnswerBytes) chunks.push(chunk);
      });
      response.once("end", () => {
        const { statusCode = 0, headers: said } = response;
        resolve({ status: statusCode, after: said["retry-after"], answer: Buffer.concat(chunks) });
      });
      // Half an answer is none: the batch may have been taken, and its records are known by their ids.
      response.once("error", reject);
    });
    request.once("error", reject);
    request.end(sent.body);
  });
}

async function headersIn(file: string): Promise<Readonly<Record<string, string>>> {
  const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(":");
      if (at < 1) throw new Error(`${file} has a line without a colon; write NAME: VALUE`);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}

/** Milliseconds of a `Retry-After`, in seconds or as a date. */
function waitOf(after: string | undefined): number | undefined {
  if (after === undefined) return undefined;
  const ms = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.now();
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined;
}
