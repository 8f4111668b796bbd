import { modelWires, startModelServer } from "@gennai/testkit/model-server/model-server";
import { samplePng } from "@gennai/testkit/sample-images";
import { filesHolding } from "@gennai/testkit/stored-files";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { tell } from "../fixtures/figures.ts";
import { bundleExtension } from "../workbench/code-server/bundle-extension.ts";
import { pictured } from "../workbench/pictured.ts";
import { openRepl } from "../workbench/repl-in-workbench.ts";
import { shows } from "../workbench/repl-sight.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";

const secret = "sk-plain-words-that-no-rule-knows";
const hello = { text: ["Hello from ", "the model."] };
const refusal = { status: 401, message: "Wrong key" };
const offering = await temporaryDirectory();
afterAll(() => offering[Symbol.asyncDispose]());

let provider: Awaited<ReturnType<typeof startModelServer>>;
beforeAll(async () => {
  provider = await startModelServer(
    modelWires["openai-compatible"],
    (_count, { headers }) => (headers.authorization === `Bearer ${secret}` ? hello : refusal),
    { models: [{ id: "tiny-coder", max_model_len: 65_536 }] },
  );
});
afterAll(() => provider[Symbol.asyncDispose]());

const workbench = useWorkbench(async () => {
  await bundleExtension(offering, new URL("../host/model-extension.ts", import.meta.url), {
    languageModelChatProviders: [{ vendor: "test-models", displayName: "Test Models" }],
  });
  return {
    files: { "picture.png": samplePng() },
    extensions: [inject("extension"), offering.root],
    settings: { "gennai.editingMode": "proposal", "chat.disableAIFeatures": false },
    gennai: {},
  };
});

test("from the palette: found, key set, tried and used in ten seconds, and the next prompt goes there", async () => {
  const repl = await openRepl(workbench());
  const { root } = repl;
  await root.getByText("No language model is chosen yet.").waitFor();
  const form = root.getByRole("dialog", { name: "Model and thinking" });

  const began = performance.now();
  await workbench().runCommand("Gennai: Choose Model…");
  await form
    .getByRole("option", { name: /claude/ })
    .first()
    .waitFor();
  await form.getByLabel("Provider").selectOption("openai-compatible");
  await form.getByLabel("Address").fill(provider.baseUrl);
  await form.getByRole("button", { name: "List models" }).click();
  await form.getByRole("option", { name: /tiny-coder.*66k tokens/ }).click();
  await form.getByRole("button", { name: "Set a key" }).click();
  await form.getByLabel("Key of Own server").fill(secret);
  await form.getByRole("button", { name: "Set key" }).click();
  await form.getByText("The key of Own server is set.").waitFor();
  await form.getByRole("button", { name: "Try it" }).click();
  await form.getByText(/It answers/).waitFor();
  // A picture takes time that no user would.
  const took = performance.now() - began;
  await pictured(workbench(), "model");
  const goesOn = performance.now();
  await form.getByRole("button", { name: "Use it" }).click();
  await root.getByRole("button", { name: "tiny-coder" }).waitFor();
  tell({
    name: "a model found, its key set, tried and used",
    unit: "s",
    figure: (took + performance.now() - goesOn) / 1000,
    target: { type: "most", value: 10 },
  });

  const before = provider.requests.length;
  await repl.send("hello");
  await shows(repl, "Hello from the model.");
  await repl.idle();
  const asked = provider.requests.slice(before);
  expect(asked[0]?.headers.authorization).toBe(`Bearer ${secret}`);
  expect(asked[0]?.body).toMatchObject({ model: "tiny-coder" });
  expect(await root.getByText(/--[a-z]+-?[a-z]*/).count()).toBe(0);

  // Kept for windows to come, the key in none of the files.
  const { gennaiState, userData } = workbench().server;
  const settings = filesHolding(userData, '"gennai.defaultModelUrl"').filter((file) => file.endsWith("/settings.json"));
  expect(settings).toHaveLength(1);
  expect([...filesHolding(gennaiState, secret), ...filesHolding(userData, secret)]).toEqual([]);
});

test("a model that another extension offers stands in the same list, and its tool calls are governed like any other's", async () => {
  const repl = await openRepl(workbench());
  await workbench().runCommand("Gennai: Choose Model…");
  const form = repl.root.getByRole("dialog", { name: "Model and thinking" });
  await form.getByRole("combobox", { name: "Search models" }).fill("reader");
  await form.getByRole("option", { name: /test-models\/reader-1.*100k tokens/ }).click();
  await form.getByRole("button", { name: "Try it" }).click();
  await form.getByText(/It answers/).waitFor();
  await form.getByRole("button", { name: "Use it" }).click();
  await repl.root.getByRole("button", { name: "reader-1" }).waitFor();
  await repl.send("what is the title?");
  await shows(repl, "The title is Test.");
  await repl.idle();
  expect(await repl.toolCalls()).toEqual(["Read done"]);
});

test("an image that the agent read reaches such a model as an image", async () => {
  const repl = await openRepl(workbench());
  await repl.send("what is in the picture?");
  await shows(repl, `I see image/png of ${samplePng().length} bytes.`);
  await repl.idle();
});
