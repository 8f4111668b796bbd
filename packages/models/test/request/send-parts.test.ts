import { createServer, type RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { sendParts } from "#request/send-parts";

async function listen(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    server,
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const parts = ["[1", ",2]"].map((text) => Buffer.from(text));
const options = (signal = new AbortController().signal) => ({ headers: { "x-a": "b" }, signal });

const echo: RequestListener = (request, response) => {
  void (async () => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    response.setHeader(
      "x-seen",
      `${request.method} ${request.headers["content-length"]} ${String(request.headers["x-a"])}`,
    );
    response.end(body);
  })();
};

describe("sendParts", () => {
  it("sends the parts as one body of known length", async () => {
    await using server = await listen(echo);
    const response = await sendParts(server.url, parts, options());
    expect(response.headers["x-seen"]).toBe("POST 5 b");
    expect(await text(response.body)).toBe("[1,2]");
  });

  it("sends many small parts, large ones, and empty ones between them, in their order", async () => {
    await using server = await listen(echo);
    const sizes = [0, 1, 7, 65_535, 1, 65_536, 65_537, 0, 200_000, 3, ...Array.from({ length: 300 }, () => 500)];
    const many = sizes.map((size, index) => Buffer.alloc(size, String.fromCharCode(97 + (index % 26))));
    const response = await sendParts(server.url, many, options());
    const whole = Buffer.concat(many).toString();
    expect(response.headers["x-seen"]).toBe(`POST ${whole.length} b`);
    expect((await text(response.body)) === whole).toBe(true);
  });

  it("follows no redirection", async () => {
    const asked: (string | undefined)[] = [];
    await using server = await listen((request, response) => {
      asked.push(request.url);
      response.writeHead(308, { location: "/other" }).end();
    });
    const response = await sendParts(server.url, parts, options());
    expect([response.status, response.headers["location"]]).toEqual([308, "/other"]);
    expect(asked).toEqual(["/"]);
  });

  it("sends again when a kept connection was closed just when it was used", async () => {
    let requests = 0;
    await using server = await listen((request, response) => {
      requests += 1;
      if (requests === 2) request.socket.destroy();
      else echo(request, response);
    });
    for (const _ of [1, 2]) expect(await text((await sendParts(server.url, parts, options())).body)).toBe("[1,2]");
    expect(requests).toBe(3);
  });

  it("does not send again on a fresh connection", async () => {
    await using server = await listen((request) => request.socket.destroy());
    await expect(sendParts(server.url, parts, options())).rejects.toMatchObject({ code: "ECONNRESET" });
  });

  it("fails when it is aborted, also in the middle of the answer", async () => {
    await using server = await listen((_, response) => void response.write("first"));
    const abort = new AbortController();
    const response = await sendParts(server.url, parts, options(abort.signal));
    const reading = text(response.body);
    abort.abort();
    await expect(reading).rejects.toThrow();
    await expect(sendParts(server.url, parts, options(abort.signal))).rejects.toMatchObject({ name: "AbortError" });
  });
});
