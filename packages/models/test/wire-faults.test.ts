import type { ServerResponse } from "node:http";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import type { ModelAnswer } from "@gennai/testkit/model-server/model-answer";
import { describe, expect, test } from "vitest";
import { askAt, eventStream, type Format, formats, framesOf, rawServer } from "./every-format.ts";

type Fault = (response: ServerResponse, format: Format) => void;
type Headers = Readonly<Record<string, string>>;

const json = { "content-type": "application/json" };
const greeting: ModelAnswer = { text: ["Hello ", "there."] };
const call = { id: "c1", name: "Read", arguments: { path: "a" } };

const sends =
  (body: string | Buffer, headers: Headers = eventStream, status = 200): Fault =>
  (response) =>
    response.writeHead(status, headers).end(body);
const whole = (answer: ModelAnswer, pack: (text: string) => string | Buffer, headers: Headers = {}): Fault => {
  return (response, format) =>
    sends(pack(framesOf(format, answer).join("")), { ...eventStream, ...headers })(response, format);
};
const same = (text: string) => text;

/** All frames but the last few, then what `end` does. */
const half =
  (end: (response: ServerResponse) => void, answer: ModelAnswer = greeting, left = 3): Fault =>
  (response, format) => {
    const frames = framesOf(format, answer);
    response.writeHead(200, eventStream);
    response.write(frames.slice(0, Math.max(1, frames.length - left)).join(""), () => end(response));
  };
const hangs = () => undefined;
/** Milliseconds. Longer than a slow machine takes for the answer that comes then. */
const silence = 2_000;
const comments = (response: ServerResponse) => {
  const timer = setInterval(() => response.write(": keep-alive\n\n"), 50);
  response.on("close", () => clearInterval(timer));
};

/** Asks a server that answers in this order, and with the last of these from then on. */
const asking =
  (format: Format) =>
  async (answers: readonly Fault[], timing = {}) => {
    await using server = await rawServer((response, count) =>
      answers[Math.min(count, answers.length) - 1]?.(response, format),
    );
    return await askAt(format, server, timing);
  };

describe.each(formats)("%s", (format) => {
  const ask = asking(format);

  test.each<[string, Fault]>([
    ["packed with gzip", whole(greeting, gzipSync, { "content-encoding": "gzip" })],
    ["packed with brotli", whole(greeting, brotliCompressSync, { "content-encoding": "br" })],
    ["packed with deflate", whole(greeting, deflateSync, { "content-encoding": "deflate" })],
    ["as JSON, says its header", whole(greeting, same, json)],
    ["as text, says its header", whole(greeting, same, { "content-type": "text/plain" })],
    ["with CRLF", whole(greeting, (text) => text.replaceAll("\n", "\r\n"))],
    ["behind a byte order mark", whole(greeting, (text) => `\ufeff${text}`)],
    ["between comments", whole(greeting, (text) => text.replaceAll("\n\n", "\n\n: ping\n\n"))],
  ])("reads an answer %s", async (_name, answer) => {
    expect(await ask([answer])).toMatchObject({ text: "Hello there.", finish: "stop", requests: 1 });
  });

  test("reads an answer that comes by single bytes, and one of a single long event", async () => {
    const slow: Fault = (response) => {
      response.writeHead(200, eventStream);
      for (const byte of Buffer.from(framesOf(format, { text: ["Grüße 🙂"] }).join("")))
        response.write(Buffer.of(byte));
      response.end();
    };
    expect(await ask([slow])).toMatchObject({ text: "Grüße 🙂", finish: "stop" });
    const { text } = await ask([whole({ text: ["x".repeat(4_000_000)] }, same)]);
    expect(text).toHaveLength(4_000_000);
  });

  test.each<[string, Fault]>([
    ["refuses with 408", sends("", {}, 408)],
    ["refuses with 409", sends("", {}, 409)],
    ["refuses with 500", sends("null", json, 500)],
    ["refuses with 529", sends("{}", json, 529)],
    ["sends a page with 502", sends("<html>Bad gateway</html>", { "content-type": "text/html" }, 502)],
    [
      "packs its refusal",
      sends(gzipSync('{"error":{"message":"busy"}}'), { ...json, "content-encoding": "gzip" }, 503),
    ],
    ["says with 200 that it is busy", sends('{"error":{"message":"overloaded","code":503}}', json)],
    ["closes the connection", (response) => response.socket?.resetAndDestroy()],
    ["sends a damaged event", (r, f) => sends(`${framesOf(f, greeting)[0]}data: {"half\n\n`)(r, f)],
    [
      "loses its end",
      (r) => void r.writeHead(200, { ...eventStream, "content-length": "9999" }).write(": a\n\n", () => r.destroy()),
    ],
  ])("asks again where the server %s", async (_name, fault) => {
    const told = await ask([fault, whole(greeting, same)]);
    expect(told).toMatchObject({ text: "Hello there.", calls: [], finish: "stop", error: undefined, requests: 2 });
    expect(told.waits).toHaveLength(1);
  });

  // A date is made as it is sent, not as this file is loaded.
  test.each<[string, () => Headers, number]>([
    ["seconds", () => ({ "retry-after": "75" }), 75_000],
    ["a date", () => ({ "retry-after": new Date(Date.now() + 3_000_000).toUTCString() }), 3_000_000],
    ["milliseconds", () => ({ "retry-after-ms": "90500", "retry-after": "1" }), 90_500],
  ])("waits as long as it is told to in %s", async (_name, headers, expected) => {
    await using server = await rawServer((response) => sends("{}", { ...json, ...headers() }, 429)(response, format));
    const { waits, error } = await askAt(format, server, { maxAttempts: 2, stopWaiting: true });
    expect(error).toBeUndefined();
    expect(Math.abs((waits[0] ?? 0) - expected)).toBeLessThan(60_000);
  });

  test.each<[string, Fault, string, RegExp]>([
    ["a web page", sends("<html>Sign in</html>", { "content-type": "text/html" }), "bad_response", /web page/],
    ["a page as a stream", sends("\n <!doctype html>"), "bad_response", /web page/],
    ["nothing", sends(""), "bad_response", /no answer that can be read/],
    ["204", sends("", {}, 204), "bad_response", /could not be read/],
    ["an end without a beginning", sends("data: [DONE]\n\n"), "bad_response", /no answer/],
    ["another protocol", (r) => void r.socket?.end("SSH-2.0-x\r\n"), "bad_response", /could not be read/],
    [
      "a wish to be paid",
      sends('{"error":{"message":"Insufficient Balance"}}', json, 402),
      "unauthorized",
      /asks for payment .*Insufficient Balance/,
    ],
    [
      "a refusal in another form",
      sends('{"detail":"no such field"}', json, 400),
      "bad_response",
      /HTTP 400\): no such field/,
    ],
    ["a wrong key with 200", sends('{"error":{"message":"bad key","code":401}}', json), "unauthorized", /bad key/],
    ["a redirection", sends("", { location: "http://127.0.0.1:1/" }, 307), "not_configured", /sends requests on/],
  ])("does not ask again after %s", async (_name, fault, code, message) => {
    const told = await ask([fault]);
    expect(told).toMatchObject({
      finish: undefined,
      error: { code, message: expect.stringMatching(message) },
      requests: 1,
    });
  });
});

// Of requests, not of a format: once as we read an answer ourselves, once as a library does.
describe.each(["openai-compatible", "anthropic"] as const)("%s", (format) => {
  const ask = asking(format);

  test.each<[string, Fault]>([
    ["is silent in its text", half(hangs, { text: ["a ", "b ", "c ", "d "] }, 4)],
    ["sends comments alone in its text", half(comments, { text: ["a ", "b ", "c "] }, 4)],
  ])("asks again where the server %s", async (_name, fault) => {
    const told = await ask([fault, whole(greeting, same)], { silence });
    expect(told).toMatchObject({ text: "Hello there.", calls: [], finish: "stop", error: undefined, requests: 2 });
    expect(told.waits).toHaveLength(1);
  });

  test("asks again where the server falls silent while it thinks and nobody is shown that", async () => {
    const thinking = half(hangs, { thinking: ["Let ", "me ", "think ", "of "] }, 4);
    const told = await ask([thinking, whole(greeting, same)], { silence, enableThinking: false });
    expect(told).toMatchObject({ text: "Hello there.", finish: "stop", error: undefined, requests: 2 });
    expect(told.said).toEqual([expect.stringMatching(/was silent for 2 s in the middle of its answer\. Asking again/)]);
  });

  test("ends the words of a provider as a sentence, before it adds its own", async () => {
    const busy = sends('{"error":{"message":"no reason given"}}', json, 503);
    const { said, error } = await ask([busy], { maxAttempts: 2 });
    expect(said).toEqual([expect.stringMatching(/no reason given\. Asking again in a moment \(request 2 of 2\)\.$/)]);
    expect(error?.message).toMatch(/no reason given\. That was the last of 2 requests\.$/);
  });

  test.each<[string, Fault]>([
    ["no header", hangs],
    ["a header alone", (response) => response.writeHead(200, eventStream).flushHeaders()],
    [
      "comments alone",
      (response) => {
        response.writeHead(200, eventStream);
        comments(response);
      },
    ],
  ])("does not wait for ever for a server that sends %s", async (_name, fault) => {
    const told = await ask([fault], { silence: 400 });
    expect(told).toMatchObject({
      error: { code: "unreachable", message: expect.stringMatching(/silent/) },
      requests: 1,
    });
  });

  test("gives up an answer without an end", async () => {
    const endless: Fault = (response) => {
      response.writeHead(200, eventStream);
      response.write("data: ");
      const piece = Buffer.alloc(1024 * 1024, "y");
      const on = (): void => {
        while (!response.destroyed) {
          if (response.write(piece)) continue;
          response.once("drain", on);
          return;
        }
      };
      on();
    };
    expect(await ask([endless])).toMatchObject({
      error: { code: "bad_response", message: expect.stringMatching(/without an end/) },
      requests: 1,
    });
  });

  test("nobody there is asked again as long as a server may be starting", async () => {
    const port = await (async () => {
      await using server = await rawServer(() => undefined);
      return server.port;
    })();
    const { error, waits } = await askAt(format, { port, requests: 0 });
    expect([error?.code, waits.length]).toEqual(["unreachable", 1]);
  });

  test("a name that does not resolve is asked again", async () => {
    const { error, waits } = await askAt(format, { host: "no-such-host.invalid", port: 80, requests: 0 });
    expect([error?.code, waits.length]).toEqual(["unreachable", 1]);
  });
});

// The words of DeepSeek, OpenRouter, Zhipu (https://docs.z.ai/api-reference/llm/chat-completion) and vLLM.
test.each([
  ["insufficient_system_resource", undefined, 3],
  ["error", undefined, 3],
  ["network_error", undefined, 3],
  ["abort", undefined, 3],
  ["sensitive", "content-filter", 1],
  ["model_context_window_exceeded", "length", 1],
  ["eos", "other", 1],
])("chat completions that end with %s", async (finish, expected, requests) => {
  await using server = await rawServer((response) =>
    sends(framesOf("openai-compatible", { text: ["Half"], finish }).join(""))(response, "openai-compatible"),
  );
  expect(await askAt("openai-compatible", server)).toMatchObject({ finish: expected, requests });
});

// https://ai.google.dev/api/generate-content#FinishReason
test.each([
  ["UNEXPECTED_TOOL_CALL", "malformed"],
  ["TOO_MANY_TOOL_CALLS", "malformed"],
  ["MALFORMED_RESPONSE", "malformed"],
  ["RECITATION", "content-filter"],
  ["LANGUAGE", "content-filter"],
  ["OTHER", "other"],
])("Gemini's answers that end with %s", async (finish, expected) => {
  await using server = await rawServer((response) =>
    sends(framesOf("gemini", { text: ["Half"], finish }).join(""))(response, "gemini"),
  );
  expect(await askAt("gemini", server)).toMatchObject({ finish: expected });
});

test("Gemini's prompt that is blocked is a refusal", async () => {
  await using server = await rawServer((response) =>
    sends('data: {"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":4}}\n\n')(
      response,
      "gemini",
    ),
  );
  expect(await askAt("gemini", server)).toMatchObject({ finish: "content-filter" });
});

test("a call without a name cannot be read", async () => {
  const nameless = framesOf("openai-compatible", { calls: [{ ...call, name: "" }] }).join("");
  await using server = await rawServer((response) => sends(nameless)(response, "openai-compatible"));
  expect(await askAt("openai-compatible", server)).toMatchObject({ finish: "malformed", calls: [] });
});
