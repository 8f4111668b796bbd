import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { afterAll, expect, inject, test } from "vitest";
import { bundleExtension } from "./bundle-extension.ts";
import { openRepl } from "./repl-in-workbench.ts";
import { shows } from "./repl-sight.ts";
import { useWorkbench } from "./use-workbench.ts";

const offering = await temporaryDirectory();
afterAll(() => offering[Symbol.asyncDispose]());

const workbench = useWorkbench(async () => {
  await bundleExtension(offering, new URL("host/model-extension.ts", import.meta.url), {
    languageModelChatProviders: [{ vendor: "test-models", displayName: "Test Models" }],
  });
  return {
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
