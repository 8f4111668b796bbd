import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server[Symbol.asyncDispose]());

async function post(method: string, contentType: string, body: BodyInit): Promise<Response> {
  return fetch(`${server.url}/gennai.agent.v1.AgentService/${method}`, {
    method: "POST",
    headers: { "Content-Type": contentType, Authorization: `Bearer ${server.token}` },
    body,
    duplex: "half",
  } as RequestInit);
}

const answer = z.object({ code: z.string(), message: z.string() });
const mebibyte = 1024 * 1024;

function frame(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.length, 1);
  return new Uint8Array(Buffer.concat([head, bytes]));
}

/** Sent without its length. */
function inChunks(text: string): ReadableStream<Uint8Array> {
  return new Blob([text]).stream();
}

const long = JSON.stringify({ sessionId: "x".repeat(mebibyte) });
const garbage = Uint8Array.of(0xff, 0xff, 0xff);
const cutOff = Uint8Array.of(0x0a, 0x50, 0x61);

describe("Connect", () => {
  test.each<[string, string, string, () => BodyInit]>([
    ["JSON", "GetTodos", "application/json", () => long],
    ["JSON of unknown length", "GetTodos", "application/json", () => inChunks(long)],
    ["far more than any method takes", "GetTodos", "application/json", () => "x".repeat(20 * mebibyte)],
    ["protobuf", "GetTodos", "application/proto", () => "x".repeat(mebibyte + 1)],
    ["a prompt", "StartTurn", "application/json", () => JSON.stringify({ userInput: "x".repeat(16 * mebibyte) })],
  ])("a body over the limit is 413: %s", async (_, method, type, body) => {
    const response = await post(method, type, body());
    expect(response.status).toBe(413);
    const { code, message } = answer.parse(await response.json());
    expect(code).toBe("resource_exhausted");
    expect(message).toMatch(new RegExp(`A request of ${method} has at most \\d+ bytes`));
  });

  test("a prompt may be longer than other requests", async () => {
    const response = await post(
      "StartTurn",
      "application/json",
      JSON.stringify({ userInput: "x".repeat(2 * mebibyte) }),
    );
    expect(response.status).toBe(404);
  });

  test.each([
    ["garbage", "application/proto", garbage],
    ["cut off", "application/proto", cutOff],
    ["broken JSON", "application/json", "{x"],
  ])("what is not a message is 400: %s", async (_, type, body) => {
    const response = await post("GetTodos", type, body);
    expect(response.status).toBe(400);
    expect(answer.parse(await response.json()).code).toBe("invalid_argument");
  });

  test.each([
    ["garbage", frame(garbage), "invalid_argument"],
    ["too long", frame(new Uint8Array(mebibyte + 1)), "resource_exhausted"],
    ["cut off", frame(new Uint8Array(9)).slice(0, 7), "invalid_argument"],
  ])("a stream says so at its end: %s", async (_, body, code) => {
    const response = await post("Subscribe", "application/connect+proto", body);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain(`"code":"${code}"`);
  });
});

describe("gRPC-Web", () => {
  test.each([
    ["garbage", frame(garbage), 3],
    ["too long", frame(new Uint8Array(mebibyte + 1)), 8],
    ["cut off", frame(new Uint8Array(9)).slice(0, 7), 3],
  ])("the trailers say so: %s", async (_, body, status) => {
    const response = await post("GetTodos", "application/grpc-web+proto", body);
    expect(response.status).toBe(200);
    expect((response.headers.get("grpc-status") ?? "") + (await response.text())).toMatch(
      new RegExp(`^${status}|grpc-status: ${status}\\b`),
    );
  });
});
