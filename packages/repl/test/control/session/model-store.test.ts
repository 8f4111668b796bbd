import { Code, ConnectError, createRouterTransport, type ServiceImpl } from "@connectrpc/connect";
import { connect } from "@gennai/client/connection/connection";
import { AgentService, Backend } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { expect, test } from "vitest";
import { ModelStore } from "#control/session/model-store";
import type { ReplHost } from "#hosts/repl-host";

type Methods = Partial<ServiceImpl<typeof AgentService>>;

function deskOn(methods: Methods, host: Pick<ReplHost, "keepModelKey" | "listEditorModels" | "tryEditorModel"> = {}) {
  const transport = createRouterTransport((router) => {
    router.service(AgentService, methods);
  });
  const client = connect({ baseUrl: "", transport });
  return new ModelStore({ client, host, onOpen: () => undefined });
}

const choice = { backend: "ollama", model: "qwen3", baseUrl: "http://127.0.0.1:11434/v1" } as const;

test("all providers are listed, with the server in use and the editor's models", async () => {
  const store = deskOn(
    {
      listModels: ({ backend, baseUrl }) => ({
        providers:
          backend === Backend.UNSPECIFIED
            ? [{ backend: Backend.OLLAMA }, { backend: Backend.GEMINI, needsKey: true }, { backend: 99 as Backend }]
            : [{ backend, baseUrl, models: [{ model: "qwen3", contextTokens: 8 }] }],
      }),
    },
    {
      listEditorModels: async () => [{ model: "copilot/x", contextTokens: 9 }],
      tryEditorModel: () => Promise.reject(),
    },
  );
  await store.list(choice);
  const { providers, busy, problem } = store.state.value;
  expect({ busy, problem }).toEqual({ busy: undefined, problem: undefined });
  expect(providers.map(({ backend, baseUrl }) => [backend, baseUrl])).toEqual([
    ["editor", ""],
    ["ollama", choice.baseUrl],
    ["gemini", ""],
  ]);
});

test("a list that fails is said, and the form goes on", async () => {
  const store = deskOn({
    listModels: () => {
      throw new ConnectError("no way", Code.FailedPrecondition);
    },
  });
  await store.list(undefined);
  expect(store.state.value).toMatchObject({
    busy: undefined,
    problem: { action: "Listing models", message: "no way" },
  });
});

test("a key goes to the host that keeps it, else to the server, and in neither case into the state", async () => {
  const secret = "sk-never-shown-4711";
  const forThere = `${secret} http://127.0.0.1:8000/v1`;
  const toServer: string[] = [];
  const toHost: string[] = [];
  const methods: Methods = {
    setModelKey: ({ key, baseUrl }) => {
      toServer.push(`${key} ${baseUrl}`);
      return {};
    },
    listModels: () => ({ providers: [{ backend: Backend.OPENAI, needsKey: true, hasKey: true }] }),
  };
  const alone = deskOn(methods);
  expect(await alone.setKey("openai-compatible", "http://127.0.0.1:8000/v1", secret)).toBe(true);
  const kept = deskOn(methods, { keepModelKey: async ({ key, baseUrl }) => void toHost.push(`${key} ${baseUrl}`) });
  expect(await kept.setKey("openai-compatible", "http://127.0.0.1:8000/v1", secret)).toBe(true);
  expect({ toServer, toHost }).toEqual({ toServer: [forThere], toHost: [forThere] });
  expect(alone.state.value.providers).toMatchObject([{ backend: "openai", hasKey: true }]);
  expect(JSON.stringify([alone.state.value, kept.state.value])).not.toContain(secret);
});

test("a trial is of the model that was asked; one of the editor is asked there", async () => {
  const store = deskOn(
    { tryModel: () => ({ answered: false, problem: "No key.", hint: "Set it." }) },
    { listEditorModels: async () => [], tryEditorModel: async () => ({ type: "answered", milliseconds: 3 }) },
  );
  await store.try(choice);
  expect(store.state.value.trial).toEqual({
    of: choice,
    outcome: { type: "failed", problem: "No key.", hint: "Set it." },
  });
  await store.try({ backend: "editor", model: "copilot/x", baseUrl: "" });
  expect(store.state.value.trial?.outcome).toEqual({ type: "answered", milliseconds: 3 });
});
