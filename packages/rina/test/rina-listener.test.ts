import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { ServiceError } from "@gennai/machine/service-error";
import { describe, expect, test } from "vitest";
import { listenRina, type RinaListenerOptions } from "#rina-listener";

async function opened(changes: Partial<RinaListenerOptions> = {}) {
  const calls: string[] = [];
  const errors: unknown[] = [];
  const listener = await listenRina({
    port: 0,
    judge: () => ({ type: "trusted" }),
    report: (error) => void errors.push(error),
    handlers: new Map([
      [
        "/ping",
        async (body) => {
          calls.push(body);
          if (body.includes("conflict")) throw new ServiceError("failed_precondition", "Not now.", { hint: "Later." });
          if (body.includes("bug")) throw new Error("secret detail");
          return { status: 200, body: { ok: true, version: "1" } };
        },
      ],
    ]),
    ...changes,
  });
  return { listener, calls, errors, [Symbol.asyncDispose]: () => listener[Symbol.asyncDispose]() };
}

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | Uint8Array;
}

/** By node:http: fetch would not send some of these headers. */
function send(port: number | undefined, { method = "POST", path = "/ping", headers = {}, body = "{}" }: Sent) {
  return new Promise<{ status: number; json: unknown }>((resolve, reject) => {
    const sent = httpRequest({
      host: "127.0.0.1",
      port,
      method,
      path,
      headers: { "content-type": "application/json", ...headers },
    });
    sent.on("error", reject);
    sent.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, json: text === "" ? undefined : JSON.parse(text) }),
      );
    });
    sent.end(body);
  });
}

const hostile: readonly [string, Sent, number][] = [
  ["a page's Origin", { headers: { origin: "https://evil.example" } }, 403],
  ["the Origin of this very port", { headers: { origin: "http://127.0.0.1:1" } }, 403],
  ["Origin null", { headers: { origin: "null" } }, 403],
  [
    "a preflight",
    { method: "OPTIONS", headers: { origin: "https://evil.example", "access-control-request-method": "POST" } },
    403,
  ],
  ["a browser's fetch without Origin", { headers: { "sec-fetch-site": "same-origin" } }, 403],
  ["a rebound name", { headers: { host: "evil.example" } }, 421],
  ["this name on another port", { headers: { host: "127.0.0.1:1" } }, 421],
  ["text/plain", { headers: { "content-type": "text/plain" } }, 415],
  ["a form", { headers: { "content-type": "application/x-www-form-urlencoded" } }, 415],
  ["a compressed body", { headers: { "content-encoding": "gzip" } }, 415],
  ["GET", { method: "GET", body: "" }, 405],
  ["PUT", { method: "PUT" }, 405],
  ["another path", { path: "/gennai.agent.v1.PlanService/ApprovePlan" }, 404],
  ["a query", { path: "/ping?x=1" }, 404],
  ["a body that says it is too large", { headers: { "content-length": String(2 * 1024 * 1024) }, body: "" }, 413],
  [
    "a body that is too large",
    { body: `"${"x".repeat(1024 * 1024)}"`, headers: { "transfer-encoding": "chunked" } },
    413,
  ],
  ["bytes that are not text", { body: new Uint8Array([0x22, 0xff, 0xfe, 0x22]) }, 400],
  ["a refusal of the handler", { body: '"conflict"' }, 409],
];

describe("the RinaWarp port", () => {
  test.each(hostile)("refuses %s, in the protocol's own words", async (_, sent, status) => {
    await using here = await opened();
    const answer = await send(here.listener.port, sent);
    expect(answer).toEqual({ status, json: { ok: false, error: expect.any(String) } });
    expect(here.calls).toEqual(status === 409 ? ['"conflict"'] : []);
  });

  test("answers a client without credentials that is none of these", async () => {
    await using here = await opened();
    expect(await send(here.listener.port, {})).toEqual({ status: 200, json: { ok: true, version: "1" } });
    const headers = { "content-type": "application/json; charset=utf-8", host: `localhost:${here.listener.port}` };
    expect((await send(here.listener.port, { headers })).status).toBe(200);
  });

  test("a peer that is not trusted learns why, and nothing reads its body", async () => {
    await using here = await opened({
      judge: () => ({ type: "refused", reason: "the connection comes from another user" }),
    });
    const json = { ok: false, error: "Refused: the connection comes from another user." };
    expect(await send(here.listener.port, {})).toEqual({ status: 403, json });
    expect(here.calls).toEqual([]);
  });

  test("an unexpected error tells nothing of itself", async () => {
    await using here = await opened();
    const { status, json } = await send(here.listener.port, { body: '"bug"' });
    expect({ status, text: JSON.stringify(json), reported: here.errors.length }).toEqual({
      status: 500,
      text: expect.not.stringContaining("secret"),
      reported: 1,
    });
  });

  test("bytes that are no HTTP, and two Host headers, are refused", async () => {
    await using here = await opened();
    const raw = (text: string) =>
      new Promise<string>((resolve) => {
        let heard = "";
        const socket = connect(here.listener.port ?? 0, "127.0.0.1", () => socket.write(text));
        socket.on("data", (chunk) => (heard += chunk.toString("latin1"))).on("close", () => resolve(heard));
        socket.on("error", () => resolve(heard));
      });
    expect(await raw("hello\r\n\r\n")).toMatch(/^HTTP\/1\.1 400/);
    const twice = `POST /ping HTTP/1.1\r\nHost: 127.0.0.1:${here.listener.port}\r\nHost: evil.example\r\nConnection: close\r\n\r\n`;
    expect(await raw(twice)).toMatch(/^HTTP\/1\.1 400/);
    expect(here.calls).toEqual([]);
  });

  test("it listens on the loopback alone", async () => {
    await using here = await opened();
    expect(here.listener.url).toBe(`http://127.0.0.1:${here.listener.port}`);
  });
});
