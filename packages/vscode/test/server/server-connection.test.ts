import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { AgentService, GetServerInfoResponseSchema } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { expect, it } from "vitest";
import { openConnection } from "../../src/server/server-connection.ts";
import { describeProblem } from "../../src/server/server-problem.ts";

const url = "http://127.0.0.1:1";

/** In place of a server: nothing goes over the network. */
function says(answer: MessageInitShape<typeof GetServerInfoResponseSchema> | ConnectError): Interceptor {
  return () => async (request) => {
    if (answer instanceof ConnectError) throw answer;
    const message = create(GetServerInfoResponseSchema, {
      version: "9.9",
      isolation: "sandboxed",
      gitIsolation: "missing",
      ...answer,
    });
    const { getServerInfo: method } = AgentService.method;
    return { stream: false, service: request.service, method, header: new Headers(), trailer: new Headers(), message };
  };
}

it.each([
  { name: "of today", answer: { protocolVersion: 1, stages: "required" }, type: undefined, words: undefined },
  { name: "older", answer: { protocolVersion: 0 }, type: "server-old", words: /9\.9.*too old.*Update it/ },
  { name: "newer", answer: { protocolVersion: 2 }, type: "server-new", words: /9\.9.*newer.*Update the extension/ },
  {
    name: "without the sandbox that the settings require",
    answer: { protocolVersion: 1, isolation: "unsandboxed", isolationReason: "--commands ask" },
    type: "server-weak",
    words: /runs commands without a sandbox: --commands ask.*--commands staged/,
  },
  {
    name: "from before the call existed",
    answer: new ConnectError("no", Code.Unimplemented),
    type: "server-old",
    words: /too old/,
  },
  {
    name: "that knows another token",
    answer: new ConnectError("no", Code.Unauthenticated),
    type: "token-wrong",
    words: /Enter the one it was started with/,
  },
  {
    name: "that fails",
    answer: new ConnectError("disk full", Code.Internal),
    type: "call-failed",
    words: /could not be used: disk full/,
  },
])("a server $name", async ({ answer, type, words }) => {
  const { signal } = new AbortController();
  const opened = await openConnection(
    { url, token: undefined, isHere: false },
    {
      commands: () => "staged",
      interceptors: [says(answer)],
      signal,
      renewToken: async () => "",
    },
  );
  expect("type" in opened ? opened.type : undefined).toBe(type);
  if ("type" in opened && words !== undefined) {
    expect(describeProblem(opened).message).toMatch(words);
    expect(describeProblem(opened).steps).not.toEqual([]);
  }
});
