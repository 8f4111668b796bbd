import type { TestServer } from "@gennai/testkit/test-server";
import { afterAll, beforeAll } from "vitest";

/** One server for tests each of which has a session of its own; it runs from before the first to after the last. */
export function useServer(start: () => Promise<TestServer>): () => TestServer {
  let server: TestServer;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  return () => server;
}
