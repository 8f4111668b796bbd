import { request } from "node:http";
import { connect } from "node:net";
import { Code } from "@connectrpc/connect";
import type { TestServer } from "@gennai/testkit/test-server";

export interface RawAnswer {
  /** HTTP status. */
  readonly status: number;
  /** gRPC code in words; `ok`, or `none` where the answer has none. */
  readonly code: string;
  readonly message: string;
}

/** One message as gRPC-Web frames it. */
export function envelope(message: Uint8Array, flags = 0): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** Sends bytes as a gRPC-Web call by plain HTTP. */
export async function grpcWeb(
  server: Pick<TestServer, "port" | "token">,
  method: string,
  body: Uint8Array,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const outgoing = request({
    host: "127.0.0.1",
    port: server.port,
    method: "POST",
    path: `/gennai.agent.v1.AgentService/${method}`,
    agent: false,
    headers: {
      "Content-Type": "application/grpc-web+proto",
      Authorization: `Bearer ${server.token}`,
      "X-Grpc-Web": "1",
      ...(headers as Record<string, string>),
    },
  });
  outgoing.once("error", reject);
  outgoing.once("response", (response) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.once("error", reject);
    response.once("end", () => {
      const trailer = trailerOf(Buffer.concat(chunks));
      const value = (name: string): string | undefined =>
        new RegExp(`^${name}: *(.*?)\\r?$`, "im").exec(trailer)?.[1] ?? response.headers[name]?.toString();
      resolve({
        status: response.statusCode ?? 0,
        code: codeName(value("grpc-status")),
        message: decodeURIComponent(value("grpc-message") ?? ""),
      });
    });
  });
  outgoing.end(body);
  return promise;
}

/** Everything the server sends for these bytes until it closes. `HOST` is replaced with the right Host value. */
export async function exchange(
  server: Pick<TestServer, "port">,
  bytes: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const socket = connect(server.port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.setEncoding("latin1").write(bytes.replaceAll("HOST", `127.0.0.1:${server.port}`), "latin1");
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  return { status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1]), text };
}

function trailerOf(body: Buffer): string {
  for (let at = 0; at + 5 <= body.length; ) {
    const length = body.readUInt32BE(at + 1);
    if ((body.readUInt8(at) & 0x80) !== 0) return body.subarray(at + 5, at + 5 + length).toString("latin1");
    at += 5 + length;
  }
  return "";
}

function codeName(status: string | undefined): string {
  if (status === undefined) return "none";
  if (status === "0") return "ok";
  const name = Code[Number(status)] ?? status;
  return name.replaceAll(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}
