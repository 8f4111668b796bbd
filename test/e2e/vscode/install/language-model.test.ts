import { samplePng } from "@gennai/testkit/sample-images";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { afterAll, expect, inject, test } from "vitest";
import { bundleExtension } from "../workbench/code-server/bundle-extension.ts";
import { openRepl } from "../workbench/repl-in-workbench.ts";
import { shows } from "../workbench/repl-sight.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";

const offering = await temporaryDirectory();
afterAll(() => offering[Symbol.asyncDispose]());

const workbench = useWorkbench(async () => {
  await bundleExtension(offering, new URL("../host/model-extension.ts", import.meta.url), {
    languageModelChatProviders: [{ vendor: "test-models", displayName: "Test Models" }],
  });
  return {
    files: { "picture.png": samplePng() },
    extensions: [inject("extension"), offering.root],
    settings: { "gennai.editingMode": "proposal", "chat.disableAIFeatures": false },
    gennai: { args: ["--backend", "editor", "--model", "test-models/reader-1"] },
  };
});

test("a model that another extension offers answers, and its tool calls are governed like any other's", async () => {
  const repl = await openRepl(workbench());
  await repl.send("what is the title?");
  await shows(repl, "The title is Test.");
  await repl.idle();
  expect(await repl.toolCalls()).toEqual(["Read done"]);
  await workbench().screenshot("language model of the editor");
});

test("an image that the agent read reaches such a model as an image", async () => {
  const repl = await openRepl(workbench());
  await repl.send("what is in the picture?");
  await shows(repl, `I see image/png of ${samplePng().length} bytes.`);
  await repl.idle();
});
