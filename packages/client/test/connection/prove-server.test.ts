import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { proveServer } from "#connection/prove-server";

let running: Server | undefined;

afterEach(() => {
  running?.closeAllConnections();
  running?.close();
});

/** Answers every challenge as a server would that knows `token` and is reached as `host`. */
async function serve(
  answer: (nonce: string, host: string) => { readonly status: number; readonly body: string } | undefined,
) {
  const seen: string[] = [];
  running = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    seen.push(`${request.url} ${JSON.stringify(request.headers)} ${body}`);
    const { nonce } = JSON.parse(body);
    const given = answer(nonce, request.headers.host ?? "");
    // Without an answer the client is left to wait.
    if (given === undefined) return;
    const headers = { "Content-Type": "application/json", ...(given.status === 302 ? { Location: "/elsewhere" } : {}) };
    response.writeHead(given.status, headers).end(given.body);
  });
  running.listen(0, "127.0.0.1");
  await once(running, "listening");
  const address = running.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return { url: `http://127.0.0.1:${port}`, seen };
}

const proofOf = (token: string, host: string, nonce: string) =>
  createHmac("sha256", token).update(`gennai-server-proof:${host}:${nonce}`).digest("base64url");

describe("proveServer", () => {
  const signal = new AbortController().signal;
  const rows = [
    {
      name: "knows the token",
      status: 200,
      body: (nonce: string, host: string) => ({ proof: proofOf("right", host, nonce) }),
      want: "proven",
    },
    {
      name: "knows another",
      status: 200,
      body: (nonce: string, host: string) => ({ proof: proofOf("wrong", host, nonce) }),
      want: "other-token",
    },
    {
      name: "passes the challenge on to a real one",
      status: 200,
      body: (nonce: string) => ({ proof: proofOf("right", "127.0.0.1:1", nonce) }),
      want: "other-token",
    },
    { name: "an empty proof", status: 200, body: () => ({ proof: "" }), want: "stranger" },
    { name: "another page", status: 200, body: () => ({}), want: "stranger" },
    { name: "no JSON", status: 200, body: () => undefined, want: "stranger" },
    { name: "a list", status: 200, body: () => [1], want: "stranger" },
    {
      name: "a guess",
      status: 200,
      body: () => ({ proof: Buffer.alloc(32).toString("base64url") }),
      want: "other-token",
    },
    { name: "an answer without end", status: 200, body: () => "a".repeat(10_000_000), want: "stranger" },
    { name: "asks for the token", status: 401, body: () => ({ code: "unauthenticated" }), want: "stranger" },
    { name: "sends elsewhere", status: 302, body: () => ({}), want: "stranger" },
    { name: "says it is another host's", status: 421, body: () => ({}), want: "stranger" },
    { name: "no such page", status: 404, body: () => ({}), want: "stranger" },
    { name: "too long an answer", status: 200, body: () => ({ proof: "a".repeat(2000) }), want: "stranger" },
  ];

  it.each(rows)("$name: $want", async ({ status, body, want }) => {
    const { url, seen } = await serve((nonce, host) => ({ status, body: JSON.stringify(body(nonce, host)) }));
    expect(await proveServer(url, "right", { signal })).toEqual({ type: want });
    expect(new Set(seen.map((request) => request.split(" ")[0]))).toEqual(new Set(["/challenge"]));
    expect(seen.join("\n")).not.toContain("right");
    expect(seen.join("\n").toLowerCase()).not.toContain("authorization");
  });

  it("tells a server's presence without a token", async () => {
    const { url } = await serve((nonce, host) => ({
      status: 200,
      body: JSON.stringify({ proof: proofOf("right", host, nonce) }),
    }));
    expect(await proveServer(url, undefined)).toEqual({ type: "other-token" });
  });

  it("waits no longer than its caller does", async () => {
    const { url, seen } = await serve(() => undefined);
    const leaving = new AbortController();
    const proof = proveServer(url, "right", { signal: leaving.signal });
    await expect.poll(() => seen).toHaveLength(1);
    leaving.abort(new Error("left"));
    await expect(proof).rejects.toThrow("left");
  });

  it("says that nobody listens", async () => {
    const { url } = await serve(() => ({ status: 200, body: "" }));
    running?.close();
    const reason = expect.stringContaining("ECONNREFUSED");
    expect(await proveServer(url, "right", { signal })).toEqual({ type: "nobody", reason });
  });
});
