import { createRouterTransport } from "@connectrpc/connect";
import { connect } from "@gennai/client/connection/connection";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { backendWords } from "@gennai/protocol/model/session/backend";
import { expect, test } from "vitest";
import { ModelKeyStore } from "../../src/server/model-key-store.ts";
import { secretKey } from "../../src/server/secret-key.ts";

function secretStorage() {
  const kept = new Map<string, string>();
  return {
    kept,
    get: async (name: string) => kept.get(name),
    store: async (name: string, value: string) => void kept.set(name, value),
    delete: async (name: string) => void kept.delete(name),
  };
}

function server(url = "http://127.0.0.1:7777", isHere = false) {
  const got: string[] = [];
  const transport = createRouterTransport(({ rpc }) => {
    rpc(AgentService.method.setModelKey, ({ backend, key, baseUrl }) => {
      got.push([backendWords.fromMessage(backend), key, ...(baseUrl === "" ? [] : [baseUrl])].join(" "));
      return {};
    });
  });
  return { url, isHere, agent: connect({ baseUrl: url, transport }), got };
}

/** The settings say nothing of an address. */
const nowhere = () => "";
const here = { remoteName: undefined, host: "desk" };

test("a key is kept, handed over, handed over again after a restart, and forgotten", async () => {
  const secrets = secretStorage();
  const keys = new ModelKeyStore(secrets, here, nowhere);
  const first = server();
  await keys.set(first, { backend: "anthropic", baseUrl: "", key: "key-1" });
  expect(first.got).toEqual(["anthropic key-1"]);

  const restarted = server();
  expect(await keys.handOver(restarted)).toEqual(["anthropic"]);
  expect(restarted.got).toEqual(["anthropic key-1"]);

  await keys.set(restarted, { backend: "anthropic", baseUrl: "", key: "" });
  expect(secrets.kept.size).toBe(0);
  expect(restarted.got.at(-1)).toBe("anthropic ");
});

test("a key goes to no other server, and from no window on another host", async () => {
  const secrets = secretStorage();
  await new ModelKeyStore(secrets, here, nowhere).set(server(), { backend: "openai", baseUrl: "", key: "key-2" });
  const other = server("http://127.0.0.1:9999");
  expect(await new ModelKeyStore(secrets, here, nowhere).handOver(other)).toEqual([]);
  const elsewhere = new ModelKeyStore(secrets, { remoteName: "ssh-remote", host: "box" }, nowhere);
  expect(await elsewhere.handOver(server())).toEqual([]);
  expect(other.got).toEqual([]);
});

test("of a user's own servers each gets it, whatever its port, and one behind an address that was set gets none of it", async () => {
  const secrets = secretStorage();
  const keys = new ModelKeyStore(secrets, here, nowhere);
  await keys.set(server("http://127.0.0.1:4001", true), { backend: "openai", baseUrl: "", key: "key-3" });
  expect(await keys.handOver(server("http://127.0.0.1:4002", true))).toEqual(["openai"]);
  expect(await keys.handOver(server("http://127.0.0.1:4001", false))).toEqual([]);
});

test("a key of a server of one's own is kept and handed over with its address, and each is forgotten by itself", async () => {
  const secrets = secretStorage();
  const keys = new ModelKeyStore(secrets, here, () => "http://127.0.0.1:9999/v1");
  const backend = "openai-compatible";
  await keys.set(server(), { backend, baseUrl: "http://127.0.0.1:8000/v1", key: "key-a" });
  await keys.set(server(), { backend, baseUrl: "https://models.example/v1", key: "key-b" });
  const restarted = server();
  expect(await keys.handOver(restarted)).toEqual([backend]);
  expect(restarted.got.toSorted()).toEqual([
    "openai-compatible key-a http://127.0.0.1:8000",
    "openai-compatible key-b https://models.example",
  ]);
  await keys.set(restarted, { backend, baseUrl: "http://127.0.0.1:8000/other", key: "" });
  const next = server();
  await keys.handOver(next);
  expect(next.got).toEqual(["openai-compatible key-b https://models.example"]);
});

test("a key from before it had an address is for the one in the user's settings, and does not follow them", async () => {
  const secrets = secretStorage();
  let url = "http://127.0.0.1:8000/v1";
  const keys = new ModelKeyStore(secrets, here, () => url);
  // The name it had.
  const before = `${secretKey(here, server().url)}:model-key:openai-compatible`;
  secrets.kept.set(before, "old-key");
  for (const typed of [url, "http://127.0.0.1:8001/v1"]) {
    url = typed;
    const next = server();
    await keys.handOver(next);
    expect(next.got).toEqual(["openai-compatible old-key http://127.0.0.1:8000"]);
  }
  expect(secrets.kept.has(before)).toBe(false);
});
