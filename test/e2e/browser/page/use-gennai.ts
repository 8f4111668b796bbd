import { afterAll, beforeAll } from "vitest";
import { type ServedGennai, type ServeOptions, serveGennai } from "../../process/serve-gennai.ts";

/** A server for all tests of a file or group: each opens a page of its own, and begins a session there. */
export function useGennai(options: ServeOptions = {}): () => ServedGennai {
  let gennai: ServedGennai | undefined;
  beforeAll(async () => {
    gennai = await serveGennai(options);
  });
  afterAll(() => gennai?.[Symbol.asyncDispose]());
  return () => {
    if (gennai === undefined) throw new Error("There is a server within tests only.");
    return gennai;
  };
}
