import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { startTestServer } from "@gennai/testkit/test-server";
import { runTurn, startSession } from "../../../e2e/rpc/session-client.ts";
import { type Checks, check } from "../../corpus-case.ts";
import { envelope, exchange, grpcWeb } from "../../raw-wire.ts";
import { scriptOf } from "../../tool-call.ts";

const token = "t".repeat(43);
const rpc = "/gennai.agent.v1.AgentService/GetServerInfo";

function bytesOf(bearer: string): string {
  return [
    `POST ${rpc} HTTP/1.1`,
    "Host: HOST",
    `Authorization: Bearer ${bearer}`,
    "Content-Type: application/grpc-web+proto",
    "Content-Length: 5",
    "Connection: close",
    "",
    "\0\0\0\0\0",
  ].join("\r\n");
}

export const protocolHttpChecks: Checks = {
  "HTP-047": check(async () => {
    // Unlike any placeholder, so that whatever finds it has found this one.
    const own = "Zq7-vX2_kP9sLm4TbR8nWc1YdG5hJf3EoA6uViKxQpB";
    const read = [
      { tool: "Read", args: { file_path: "notes.txt" } },
      { tool: "Bash", args: { command: "cat notes.txt" } },
      { tool: "Grep", args: { pattern: "is", output_mode: "content" } },
    ];
    await using server = await startTestServer({ script: [scriptOf(read)], server: { token: own, announce: true } });
    await server.workspace.write("notes.txt", `The token is ${own}.\n`);
    const sessionId = await startSession(server);
    await runTurn(server, sessionId, `My token is ${own}`);
    await exchange(server, bytesOf("wrong"));
    assert.ok(!readFileOf(`/proc/${process.pid}/cmdline`).includes(own));
    for (const warning of server.warnings) assert.ok(!warning.includes(own));
    await server.running[Symbol.asyncDispose]();
    for (const root of [server.stateDir, server.workspace.root]) {
      for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name);
        // The discovery file is where it belongs, and it goes with the server.
        if (!entry.isFile() || entry.name === "notes.txt") continue;
        assert.ok(!(await readFile(path)).includes(own), `the token is in ${path}`);
      }
    }
  }),
  "HTP-050": check(async () => {
    await using server = await startTestServer();
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    const before = process.memoryUsage().rss;
    const framed = await grpcWeb(server, "GetTodos", envelope(bomb, 1), { "grpc-encoding": "gzip" });
    // Nothing is inflated at all: no compression is accepted.
    assert.ok(["resource_exhausted", "unimplemented", "internal"].includes(framed.code), framed.code);
    const whole = await grpcWeb(server, "GetTodos", gzipSync(envelope(Buffer.alloc(64 * 1024 * 1024))), {
      "Content-Encoding": "gzip",
    });
    assert.equal(whole.status, 415);
    assert.ok(process.memoryUsage().rss - before < 300 * 1024 * 1024);
    assert.equal((await exchange(server, bytesOf(token))).status, 200);
  }),
};

function readFileOf(path: string): string {
  return spawnSync("cat", [path]).stdout.toString();
}
