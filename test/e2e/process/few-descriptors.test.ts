import { once } from "node:events";
import { connect as connectTcp, type Socket } from "node:net";
import { createClient } from "@connectrpc/connect";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { call } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { eventsOf, type Refusal, refusalOf } from "../rpc/session-client.ts";
import { transportWith } from "../users/call-rpc.ts";
import { type ServedGennai, serveGennai } from "./serve-gennai.ts";

const script = [
  {
    match: "^work",
    steps: [
      call("Bash", { command: "git status && cat README.md", description: "looks" }),
      call("Grep", { pattern: "Test" }),
      call("Write", { file_path: "made.txt", content: "made\n" }),
      { text: ["Done."] },
    ],
  },
];

const openFiles = 256;

/** A client that gives up when it is refused, and whose streams have a connection each. */
function impatient({ url, token }: ServedGennai) {
  return createClient(AgentService, transportWith(url, token, { agent: false }));
}

async function turnOf(server: ServedGennai, sessionId: string): Promise<{ outputs: string; end: string | undefined }> {
  const events = await Array.fromAsync(server.client.invoke({ sessionId, userInput: "work" }));
  return {
    outputs: eventsOf(events, "toolResult")
      .map(({ output }) => output)
      .join("\n"),
    end: eventsOf(events, "error").at(-1),
  };
}

test("streams are refused before the last descriptors, and turns go on", async () => {
  await using server = await serveGennai({ openFiles, script, args: ["--commands", "auto"] });
  const { sessionId } = await server.client.startSession({ interactive: false });
  const client = impatient(server);
  const stop = new AbortController();
  let refusal: Refusal | undefined;
  const streams: Promise<unknown>[] = [];
  for (let tries = 0; refusal === undefined && tries < openFiles; tries++) {
    const events = client.subscribe({ sessionId }, { signal: stop.signal })[Symbol.asyncIterator]();
    const first = await refusalOf(events.next());
    if (first.code === "ok") streams.push(refusalOf(events.next()));
    // A refusal may close the connection before the client has written all of its request: then its words are lost.
    else if (!/EPIPE|ECONNRESET/.test(first.message)) refusal = first;
  }
  expect(refusal).toMatchObject({
    code: "resource_exhausted",
    info: "no_descriptors",
    message: expect.stringMatching(
      new RegExp(`has \\d+ of ${openFiles} file descriptors in use, so no new stream begins`),
    ),
  });
  for (let turn = 0; turn < 3; turn++) {
    const { outputs, end } = await turnOf(server, sessionId);
    expect({ outputs, end }).toEqual({ outputs: expect.stringContaining("# Test"), end: undefined });
  }
  expect(streams.length).toBeGreaterThan(openFiles / 3);
  stop.abort();
  await Promise.all(streams);
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
});

test("connections that ask for nothing leave room for a turn", async () => {
  await using server = await serveGennai({ openFiles, script, args: ["--commands", "auto"] });
  const { sessionId } = await server.client.startSession({ interactive: false });
  const sockets: Socket[] = [];
  for (let count = 0; count < 400; count++) {
    const socket = connectTcp(server.port, "127.0.0.1").on("error", () => undefined);
    await once(socket, "connect");
    sockets.push(socket);
  }
  for (const socket of sockets.slice(0, 100)) socket.destroy();
  expect((await fetch(`${server.url}/livez`)).status).toBe(200);
  for (const socket of sockets) socket.destroy();
  expect(await turnOf(server, sessionId)).toMatchObject({ end: undefined });
});
