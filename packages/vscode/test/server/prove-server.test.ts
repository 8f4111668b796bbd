import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { proveServer } from "../../src/server/prove-server.ts";

let running: Server | undefined;

afterEach(() => {
  running?.closeAllConnections();
  running?.close();
});

/** Answers every challenge as a server would that knows `token` and is reached as `host`. */
async function serve(answer: (nonce: string, host: string) => { readonly status: number; readonly body: string }) {
  const seen: string[] = [];
  running = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    seen.push(`${JSON.stringify(request.headers)} ${body}`);
    const { nonce } = JSON.parse(body);
    const { status, body: text } = answer(nonce, request.headers.host ?? "");
    response.writeHead(status, { "Content-Type": "application/json" }).end(text);
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
    { name: "no such page", status: 404, body: () => ({}), want: "stranger" },
    { name: "too long an answer", status: 200, body: () => ({ proof: "a".repeat(2000) }), want: "stranger" },
  ];

  it.each(rows)("$name: $want", async ({ status, body, want }) => {
    const { url, seen } = await serve((nonce, host) => ({ status, body: JSON.stringify(body(nonce, host)) }));
    expect(await proveServer(url, "right", { signal })).toEqual({ type: want });
    expect(seen.join("\n")).not.toContain("right");
  });

  it("says that nobody listens", async () => {
    const { url } = await serve(() => ({ status: 200, body: "" }));
    running?.close();
    expect(await proveServer(url, "right", { signal })).toMatchObject({ type: "nobody" });
  });
});
