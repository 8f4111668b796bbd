import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { text } from "node:stream/consumers";
import { listening } from "@gennai/testkit/listening";
import { TestOutside } from "@gennai/testkit/test-outside";
import type { AddedLogin, BodyReader } from "#network/added-login";

export const secret = "npm_correcthorsebattery";
export const placeholder = "placeholder-of-a-test";

/** Of one line, with something behind it. */
const early: BodyReader = {
  most: 1000,
  early: true,
  read: (bytes) => {
    const [line, end] = bytes.toString().split(/(?<=\n)/);
    if (end === undefined && line?.endsWith("\n") !== true) return undefined;
    return line === "read\n" ? { type: "reads" } : { type: "writes", what: `say ${line?.trim()}` };
  },
};
const whole: BodyReader = {
  most: 100_000,
  read: (bytes) => ({ type: "writes", what: `say ${bytes.length}`, body: Buffer.from(`read ${bytes.length}`) }),
};
export const host = "registry.example";

export function loginFor(port: number, more: Partial<AddedLogin> = {}): AddedLogin {
  return {
    endpoint: { host, port },
    isTls: port === 443,
    login: "the login of a test",
    secrets: [secret],
    placeholder,
    use: ({ method, path, query, headers }) => {
      const authorization = `Bearer ${secret}`;
      if (/^(?:GET|HEAD)$/.test(method) && path.startsWith("/packages/") && query === "")
        return { authorization, unasked: true };
      if (method === "GET" && path === "/public") return { authorization };
      if (method !== "POST" || headers["content-encoding"] !== undefined) return undefined;
      if (path === "/early") return { authorization, headers: ["content-type"], body: early };
      return path === "/whole" ? { authorization, body: whole } : undefined;
    },
    trusted: [],
    ...more,
  };
}

interface Registry {
  readonly outside: TestOutside;
  /** What it was asked: method, path, headers and body. */
  readonly asked: readonly string[];
}

export async function withRegistry(
  answer: RequestListener,
  run: (registry: Registry) => Promise<void>,
  tls?: { readonly cert: string; readonly key: string },
): Promise<void> {
  using outside = new TestOutside();
  const asked: string[] = [];
  const listener: RequestListener = async (request, response) => {
    asked.push(
      `${request.method} ${request.url} ${JSON.stringify(request.headers)} ${await text(request).catch(() => "")}`,
    );
    answer(request, response);
  };
  const server: Server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  await listening(server);
  outside.host(host, tls === undefined ? 80 : 443, server);
  try {
    await run({ outside, asked });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

export const fine = (_request: IncomingMessage, response: { end(text: string): unknown }) =>
  void response.end("a package");

export const asking = (request: string, headers = "") =>
  `${request} HTTP/1.1\r\nHost: elsewhere.example\r\nConnection: close\r\n${headers}\r\n`;
