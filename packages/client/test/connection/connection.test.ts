import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { bearerToken, connect, connectGovernance, openTransport } from "#connection/connection";

/** A server that notes the tokens it sees and fails as it is told. */
function serverThat(fails: { unary?: Code; stream?: Code }, renew: () => Promise<string>) {
  const seen: string[] = [];
  const transport = createRouterTransport(
    ({ service }) => {
      service(AgentService, {
        getServerInfo(_request, context) {
          seen.push(context.requestHeader.get("authorization") ?? "");
          if (fails.unary !== undefined) throw new ConnectError("broke", fails.unary);
          return {};
        },
        async *subscribe(_request, context) {
          seen.push(context.requestHeader.get("authorization") ?? "");
          yield { event: { case: "heartbeat", value: {} } };
          if (fails.stream !== undefined) throw new ConnectError("broke", fails.stream);
        },
      });
    },
    { transport: { interceptors: [bearerToken("old", renew)] } },
  );
  return { client: createClient(AgentService, transport), seen };
}

describe("the token", () => {
  it("is kept while calls go well, and when the server merely refuses", async () => {
    const fails: { unary?: Code } = {};
    const { client, seen } = serverThat(fails, async () => "new");
    await client.getServerInfo({});
    fails.unary = Code.InvalidArgument;
    await expect(client.getServerInfo({})).rejects.toThrow("broke");
    delete fails.unary;
    await client.getServerInfo({});
    expect(seen).toEqual(["Bearer old", "Bearer old", "Bearer old"]);
  });

  it("is not sent again after a call or a stream broke off, before it was renewed", async () => {
    const fails: { unary?: Code; stream?: Code } = { stream: Code.Unavailable };
    let proven = false;
    const { client, seen } = serverThat(fails, async () => {
      if (!proven) throw new ConnectError("not proven", Code.Unavailable);
      return "new";
    });
    await expect(Array.fromAsync(client.subscribe({}))).rejects.toThrow("broke");
    await expect(client.getServerInfo({})).rejects.toThrow("not proven");
    await expect(client.getServerInfo({})).rejects.toThrow("not proven");
    expect(seen).toEqual(["Bearer old"]);
    proven = true;
    await client.getServerInfo({});
    fails.unary = Code.Unavailable;
    await expect(client.getServerInfo({})).rejects.toThrow("broke");
    expect(seen).toEqual(["Bearer old", "Bearer new", "Bearer new"]);
  });
});

it("is not sent again by any client of one transport after a call of another broke off", async () => {
  const sent: (string | null)[] = [];
  vi.stubGlobal("fetch", async (_url: string, init: RequestInit) => {
    sent.push(new Headers(init.headers).get("authorization"));
    throw new TypeError("fetch failed");
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  const baseUrl = "http://127.0.0.1:1";
  const shared = { baseUrl, transport: openTransport({ baseUrl, token: "old", renewToken: async () => "new" }) };
  await expect(connect(shared).getServerInfo({})).rejects.toThrow();
  await expect(connectGovernance(shared).getGovernanceStatus({})).rejects.toThrow();
  expect(sent).toEqual(["Bearer old", "Bearer new"]);
});
