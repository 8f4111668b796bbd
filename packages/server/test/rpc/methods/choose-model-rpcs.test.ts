import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { Limits } from "@gennai/governance/limits/limits";
import { ServiceError } from "@gennai/machine/service-error";
import { ModelKeys } from "@gennai/models/catalogue/model-keys";
import { tryModel as tryAnswer } from "@gennai/models/catalogue/try-model";
import {
  Backend,
  ListModelsRequestSchema,
  SetModelKeyRequestSchema,
  TryModelRequestSchema,
} from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { settingDefaults } from "@gennai/protocol/model/session/session-settings";
import { listening } from "@gennai/testkit/listening";
import { expect, onTestFinished, test } from "vitest";
import { Admission } from "#admission/admission";
import { defaultLimits } from "#admission/limits";
import { chooseModelRpcs } from "#rpc/methods/choose-model-rpcs";
import { modelKeyRpc } from "#rpc/methods/model-key-rpc";
import { ModelTrials } from "#tenants/model-trials";
import { tenantModels } from "#tenants/tenant-models";

const secret = "sk-never-shown-4711";

/** A server of models on the loopback: a list, and answers that come at once. */
async function startModels(manner: (url: string) => "answers" | "hangs" = () => "answers") {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.url} ${request.headers.authorization ?? "no key"}`);
    if (manner(request.url ?? "") === "hangs") return;
    if (request.url === "/v1/models") {
      response.setHeader("content-type", "application/json");
      return void response.end(JSON.stringify({ data: [{ id: "qwen3", max_model_len: 32_768 }] }));
    }
    response.writeHead(401, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: `Wrong key ${secret}` } }));
  });
  const { port, ...closing } = await listening(server);
  onTestFinished(() => closing[Symbol.asyncDispose]());
  return { seen, baseUrl: `http://127.0.0.1:${port}/v1` };
}

interface Choice {
  readonly ofUsers?: boolean;
  /** Of the server's default settings. */
  readonly baseUrl?: string;
  /** Text of `models.json`. */
  readonly models?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly isStopped?: () => boolean;
  readonly turns?: number;
  readonly limits?: Limits;
}

async function rpcs(choice: Choice = {}) {
  const configDir = await mkdtemp(join(tmpdir(), "gennai-choose-"));
  onTestFinished(() => rm(configDir, { recursive: true, force: true }));
  if (choice.models !== undefined) await writeFile(join(configDir, "models.json"), choice.models);
  const defaultSettings = {
    ...settingDefaults,
    backend: choice.baseUrl === undefined ? ("offline" as const) : ("openai-compatible" as const),
    baseUrl: choice.baseUrl ?? "",
  };
  const keys = new ModelKeys({ environment: choice.environment ?? { GENNAI_API_KEY: secret }, platform: "win32" });
  const watched: string[] = [];
  const models = tenantModels({
    keys,
    configDir,
    ofUsers: choice.ofUsers ?? false,
    observer: {
      model(model) {
        watched.push(model.id);
        return model;
      },
    },
    options: { defaultSettings, environment: {} },
    limits: async () => choice.limits ?? [],
  });
  const admission = new Admission({ ...defaultLimits, turnsPerUser: choice.turns ?? 10 });
  const trials = new ModelTrials({
    assertTurnsMayStart() {
      if (choice.isStopped?.()) throw new ServiceError("failed_precondition", "All work is stopped.");
    },
    takeSeat: () => admission.turn({ tenant: "", user: "ann" }),
    onUnexpectedError: (error) => {
      throw error;
    },
  });
  const { listModels, tryModel } = chooseModelRpcs(models, trials);
  const context = { signal: new AbortController().signal } as HandlerContext;
  return {
    watched,
    trials,
    list: async (request: { backend?: Backend; baseUrl?: string }) =>
      (await listModels(create(ListModelsRequestSchema, request), context)).providers ?? [],
    try: async (request: { backend?: Backend; baseUrl?: string; model?: string }) =>
      tryModel(create(TryModelRequestSchema, request), context),
    setKey: (baseUrl: string, key: string) =>
      modelKeyRpc(keys)(create(SetModelKeyRequestSchema, { backend: Backend.OPENAI_COMPATIBLE, baseUrl, key })),
    /** One request of a session to this address; how it ends does not matter. */
    async turn(baseUrl: string, handedKeyOnly: boolean) {
      const settings = { backend: "openai-compatible", model: "qwen3", baseUrl, handedKeyOnly } as const;
      await tryAnswer(() => models.createModel(settings), {
        signal: context.signal,
        onUnexpectedError: () => undefined,
      });
    },
  };
}

test("one question gives what every provider has, and no key", async () => {
  const { baseUrl, seen } = await startModels();
  const providers = await (await rpcs({ baseUrl })).list({});
  expect(new Set(providers.map(({ backend }) => backend))).toEqual(
    new Set([Backend.OPENAI_COMPATIBLE, Backend.OPENAI, Backend.OLLAMA, Backend.ANTHROPIC, Backend.GEMINI]),
  );
  const own = providers.find(({ backend }) => backend === Backend.OPENAI_COMPATIBLE);
  // The server's own default says where it is.
  expect(own).toMatchObject({ baseUrl, hasKey: true, models: [{ model: "qwen3", contextTokens: 32_768 }] });
  const known = providers.find(({ backend }) => backend === Backend.ANTHROPIC);
  const priced = known?.models?.find(({ inputPrice }) => inputPrice !== undefined);
  expect(priced).toMatchObject({ currency: "USD", images: true });
  expect(JSON.stringify(providers)).not.toContain(secret);
  expect(seen).toEqual([`/v1/models Bearer ${secret}`]);
});

test("a trial of a model whose key is wrong says so, without the key", async () => {
  const { baseUrl } = await startModels();
  const { try: tryIt } = await rpcs({ baseUrl });
  const trial = await tryIt({ backend: Backend.OPENAI_COMPATIBLE, baseUrl, model: "qwen3" });
  expect(trial).toMatchObject({ answered: false, problem: expect.stringMatching(/key/i) });
  expect(JSON.stringify(trial)).not.toContain(secret);
});

test("a trial is watched, as every call of a model", async () => {
  const { baseUrl } = await startModels();
  const { try: tryIt, watched } = await rpcs();
  await tryIt({ backend: Backend.OPENAI_COMPATIBLE, baseUrl, model: "qwen3" });
  expect(watched).toEqual([expect.stringContaining("qwen3")]);
});

test("no model is tried while all work is stopped, and a trial that runs is ended", async () => {
  const asked = Promise.withResolvers<void>();
  const { baseUrl, seen } = await startModels((url) => {
    if (url.endsWith("/completions")) asked.resolve();
    return "hangs";
  });
  let stopped = false;
  const { try: tryIt, trials } = await rpcs({ isStopped: () => stopped });
  const request = { backend: Backend.OPENAI_COMPATIBLE, baseUrl, model: "qwen3" };
  const running = tryIt(request);
  await asked.promise;
  stopped = true;
  trials.stop();
  await expect(running).rejects.toThrow(/All work is stopped/);
  const before = seen.length;
  await expect(tryIt(request)).rejects.toThrow(/All work is stopped/);
  expect(seen).toHaveLength(before);
});

test("a trial takes the seat of a turn, and gives it back", async () => {
  const asked = Promise.withResolvers<void>();
  const { baseUrl } = await startModels((url) => {
    if (url.endsWith("/completions")) asked.resolve();
    return "hangs";
  });
  const { try: tryIt, trials } = await rpcs({ turns: 1 });
  const request = { backend: Backend.OPENAI_COMPATIBLE, baseUrl, model: "qwen3" };
  const running = tryIt(request);
  await asked.promise;
  await expect(tryIt(request)).rejects.toThrow(/limit of 1 running turns/);
  trials.stop();
  expect(await running).toMatchObject({ answered: false, problem: "It was stopped." });
  const after = tryIt(request);
  trials.stop();
  expect(await after).toMatchObject({ answered: false });
});

test("users of a server that others run reach only what its operator lets them", async () => {
  const { baseUrl, seen } = await startModels();
  const { list, try: tryIt } = await rpcs({ ofUsers: true });
  expect((await list({})).map(({ backend }) => backend)).not.toContain(Backend.OPENAI_COMPATIBLE);
  await expect(list({ backend: Backend.OPENAI_COMPATIBLE, baseUrl })).rejects.toThrow(/not for the users/);
  await expect(list({ backend: Backend.ANTHROPIC, baseUrl })).rejects.toThrow(/not for the users/);
  await expect(tryIt({ backend: Backend.OLLAMA, baseUrl, model: "m" })).rejects.toThrow(/not for the users/);
  // An address goes with a backend.
  expect((await list({ baseUrl })).map((each) => each.baseUrl)).not.toContain(baseUrl);
  expect(seen).toEqual([]);
});

test.each([Backend.OFFLINE, Backend.SCRIPTED, Backend.EDITOR])(
  "backend %s has no list and no trial",
  async (backend) => {
    const { list, try: tryIt } = await rpcs();
    await expect(list({ backend })).rejects.toThrow(/no models to choose/);
    await expect(tryIt({ backend, model: "/etc/passwd" })).rejects.toThrow(/no models to choose/);
  },
);

test("a trial needs a name", async () => {
  const { try: tryIt } = await rpcs();
  await expect(tryIt({ backend: Backend.OLLAMA })).rejects.toThrow(/model is empty/);
});

const own = Backend.OPENAI_COMPATIBLE;
const authorizations = (seen: readonly string[]) => [...new Set(seen.map((line) => line.replace(/^\S+ /, "")))];

test("a key that was set for one address goes to no other: not for a list, a trial or a session", async () => {
  const [mine, others] = [await startModels(), await startModels()];
  const on = await rpcs({ environment: {} });
  on.setKey(mine.baseUrl, secret);
  expect(await on.list({ backend: own, baseUrl: mine.baseUrl })).toMatchObject([{ hasKey: true }]);
  expect(await on.list({ backend: own, baseUrl: others.baseUrl })).toMatchObject([{ hasKey: false }]);
  for (const { baseUrl } of [mine, others]) {
    await on.try({ backend: own, baseUrl, model: "qwen3" });
    await on.turn(baseUrl, true);
    await on.turn(baseUrl, false);
  }
  expect({ mine: authorizations(mine.seen), others: authorizations(others.seen) }).toEqual({
    mine: [`Bearer ${secret}`],
    others: ["no key"],
  });
});

test("keys of the environment go to no address that was typed, and to those that the operator named", async () => {
  const [typed, usual, named] = [await startModels(), await startModels(), await startModels()];
  const on = await rpcs({
    baseUrl: usual.baseUrl,
    models: JSON.stringify({ headers: { [named.baseUrl]: {} } }),
    environment: { OPENAI_API_KEY: secret },
  });
  for (const { baseUrl } of [typed, usual, named]) {
    await on.list({ backend: own, baseUrl });
    await on.try({ backend: own, baseUrl, model: "qwen3" });
    await on.turn(baseUrl, true);
  }
  expect([typed, usual, named].map(({ seen }) => authorizations(seen))).toEqual([
    ["no key"],
    [`Bearer ${secret}`],
    [`Bearer ${secret}`],
  ]);
  // Who starts a session by the command line names the address with it.
  await on.turn(typed.baseUrl, false);
  expect(authorizations(typed.seen)).toEqual(["no key", `Bearer ${secret}`]);
});

test("a key without an address is for the server's own default, not for one that was typed", async () => {
  const [typed, usual] = [await startModels(), await startModels()];
  const on = await rpcs({ baseUrl: usual.baseUrl, environment: {} });
  on.setKey("", secret);
  for (const { baseUrl } of [typed, usual]) {
    await on.list({ backend: own, baseUrl });
    await on.turn(baseUrl, false);
  }
  expect([typed, usual].map(({ seen }) => authorizations(seen))).toEqual([["no key"], [`Bearer ${secret}`]]);
});
