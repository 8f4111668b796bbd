import { createRouterTransport } from "@connectrpc/connect";
import type { AgentClient } from "@gennai/client/connection/connection";
import { connect } from "@gennai/client/connection/connection";
import { AgentService, Backend } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { expect, test } from "vitest";
import { ModelKeyStore } from "../../src/server/model-key-store.ts";

function secretStorage() {
  const kept = new Map<string, string>();
  return {
    kept,
    get: async (name: string) => kept.get(name),
    store: async (name: string, value: string) => void kept.set(name, value),
    delete: async (name: string) => void kept.delete(name),
  };
}

function server(): { readonly agent: AgentClient; readonly got: string[] } {
  const got: string[] = [];
  const transport = createRouterTransport(({ rpc }) => {
    rpc(AgentService.method.setModelKey, ({ backend, key }) => {
      got.push(`${backend === Backend.ANTHROPIC ? "ANTHROPIC" : backend} ${key}`);
      return {};
    });
  });
  return { agent: connect({ baseUrl: "http://127.0.0.1:7777", transport }), got };
}

const here = { remoteName: undefined, host: "desk" };
const url = "http://127.0.0.1:7777";

test("a key is kept, handed over, handed over again after a restart, and forgotten", async () => {
  const secrets = secretStorage();
  const keys = new ModelKeyStore(secrets, here);
  const first = server();
  await keys.set(url, "anthropic", "key-1", first.agent);
  expect(first.got).toEqual(["ANTHROPIC key-1"]);

  const restarted = server();
  expect(await keys.handOver(url, restarted.agent)).toEqual(["anthropic"]);
  expect(restarted.got).toEqual(["ANTHROPIC key-1"]);

  await keys.set(url, "anthropic", "", restarted.agent);
  expect(secrets.kept.size).toBe(0);
  expect(restarted.got.at(-1)).toBe("ANTHROPIC ");
});

test("a key goes to no other server, and from no window on another host", async () => {
  const secrets = secretStorage();
  await new ModelKeyStore(secrets, here).set(url, "openai", "key-2", server().agent);
  const other = server();
  expect(await new ModelKeyStore(secrets, here).handOver("http://127.0.0.1:9999", other.agent)).toEqual([]);
  expect(
    await new ModelKeyStore(secrets, { remoteName: "ssh-remote", host: "box" }).handOver(url, other.agent),
  ).toEqual([]);
  expect(other.got).toEqual([]);
});
