import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { GetTodosRequestSchema } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { startTestServer } from "@gennai/testkit/test-server";
import { startSession } from "../../../e2e/rpc/session-client.ts";
import { type Checks, check } from "../../corpus-case.ts";
import { envelope, grpcWeb, type RawAnswer } from "../../raw-wire.ts";

/** Sends bytes as a call of GetTodos, and expects one of these gRPC codes; nothing is started, the server goes on. */
const getTodos = (
  wanted: string | readonly string[],
  bytes: (message: Uint8Array) => Uint8Array,
  headers: Readonly<Record<string, string>> = {},
) =>
  check(async () => {
    await using server = await startTestServer();
    const sessionId = await startSession(server);
    const message = toBinary(GetTodosRequestSchema, create(GetTodosRequestSchema, { sessionId }));
    assertCode(await grpcWeb(server, "GetTodos", bytes(message), headers), wanted);
    assertCode(await grpcWeb(server, "GetTodos", envelope(message)), "ok");
  });

function assertCode(answer: RawAnswer, wanted: string | readonly string[]): void {
  assert.ok(
    [wanted].flat().includes(answer.code),
    `it answered ${answer.code} (${answer.status}, ${answer.message}), not ${String(wanted)}`,
  );
}

/** A field of a message by hand. */
function field(number: number, bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
}

export const protocolRpcChecks: Checks = {
  "RPC-005": getTodos("invalid_argument", () => envelope(field(1, Buffer.from([0xff, 0xfe, 0xc3])))),
  "RPC-008": getTodos("unimplemented", (message) => Buffer.concat([envelope(message), envelope(message)])),
  "RPC-009": getTodos("invalid_argument", (message) =>
    Buffer.concat([envelope(message), envelope(Buffer.from("grpc-status: 0\r\n"), 0x80)]),
  ),
  "RPC-010": getTodos("internal", (message) => envelope(message, 1)),
  "RPC-011": getTodos("unimplemented", (message) => envelope(gzipSync(message), 1), { "grpc-encoding": "snappy" }),
  "RPC-014": check(async () => {
    await using server = await startTestServer();
    const sessionId = await startSession(server);
    const message = toBinary(GetTodosRequestSchema, create(GetTodosRequestSchema, { sessionId }));
    assertCode(await grpcWeb(server, "GetTodos", envelope(message), { "x-bin": "not base64!" }), "invalid_argument");
    assertCode(await grpcWeb(server, "GetTodos", envelope(message), { "x-bin": "AAEC" }), "ok");
    // Repeated metadata is legal and means nothing here; what must be one is refused in HTP-006.
    assertCode(await grpcWeb(server, "GetTodos", envelope(message), { "x-a": ["1", "2"] }), "ok");
  }),
  "RPC-017": check(async () => {
    await using server = await startTestServer();
    const sessionId = Buffer.from(await startSession(server));
    const id = field(1, Buffer.from("00000000-0000-4000-8000-000000000000"));
    const fileRead = field(2, id);
    const command = field(3, Buffer.concat([id, field(3, Buffer.from("SENT"))]));
    const badCommand = field(3, Buffer.concat([id, field(3, Buffer.from("MAYBE"))]));
    const submit = (...members: readonly Uint8Array[]) =>
      grpcWeb(server, "SubmitClientEvent", envelope(Buffer.concat([field(1, sessionId), ...members])));
    // The last one counts, and is validated.
    assertCode(await submit(badCommand, fileRead), "not_found");
    assertCode(await submit(fileRead, badCommand), "invalid_argument");
    assertCode(await submit(fileRead, command), "not_found");
  }),
};
