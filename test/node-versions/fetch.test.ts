import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";

test("a stream is given up when it is aborted, also when garbage was collected since it began", async () => {
  const given: Promise<unknown>[] = [];
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200).write("begun");
    given.push(once(response, "close"));
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

  for (let stream = 0; stream < 3; stream++) {
    const leaving = new AbortController();
    const reader = await open(url, leaving.signal);
    await reader.read();
    const next = reader.read();
    await collectGarbage();
    leaving.abort();
    await expect(next).rejects.toThrow(/abort/);
  }
  expect(given).toHaveLength(3);
  await Promise.all(given);
});

/** As the library that calls does: what is kept of the call is the reader alone. */
async function open(url: string, signal: AbortSignal): Promise<ReadableStreamDefaultReader> {
  const body = new TextEncoder().encode("a question");
  const response = await fetch(url, { method: "POST", body, redirect: "error", signal });
  if (response.body === null) throw new Error("There is no body.");
  return response.body.getReader();
}

/** All that nobody holds, as far as a test can have it: what is young and what is old, also what timers held. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let round = 0; round < 10; round++) {
    const garbage = Array.from({ length: 100_000 }, (_, index) => ({ index }));
    expect(garbage).toHaveLength(100_000);
    collect();
    await delay(10);
  }
}
