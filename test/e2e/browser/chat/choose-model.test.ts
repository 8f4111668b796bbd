import { modelWires, startModelServer } from "@gennai/testkit/model-server/model-server";
import { filesHolding } from "@gennai/testkit/stored-files";
import { expect, test } from "vitest";
import { serveGennai } from "../../process/serve-gennai.ts";
import { openPage } from "../page/open-page.ts";
import { takeScreenshot } from "../page/screenshot.ts";

const secret = "sk-plain-words-that-no-rule-knows";
const hello = { text: ["Hello from ", "the model."] };
const refusal = { status: 401, message: "Wrong key" };

test("a person finds a model, sets its key, tries it and uses it; the key is written nowhere", async () => {
  await using provider = await startModelServer(
    modelWires["openai-compatible"],
    (_count, { headers }) => (headers.authorization === `Bearer ${secret}` ? hello : refusal),
    { models: [{ id: "tiny-coder", max_model_len: 65_536 }, { id: "big-coder" }] },
  );
  await using gennai = await serveGennai();
  await using on = await openPage(gennai);
  const { root } = on.repl;
  const form = root.getByRole("dialog", { name: "Model and thinking" });

  // Nobody chose one: said once, with a button.
  await root.getByText("No language model is chosen yet.").waitFor();
  await root.locator(".lacks-model").getByRole("button", { name: "Choose a model" }).click();
  const began = performance.now();
  await form
    .getByRole("option", { name: /claude/ })
    .first()
    .waitFor();
  expect(await form.getByText(/script/i).count()).toBe(0);
  await takeScreenshot(on.page, "choose model, all");
  await form.getByLabel("Provider").selectOption("openai-compatible");
  await form.getByLabel("Address").fill(provider.baseUrl);
  await on.page.keyboard.press("Enter");
  await form.getByRole("option", { name: /tiny-coder/ }).waitFor();
  await form.getByRole("option", { name: /66k tokens/ }).waitFor();

  // By keys alone: search, try without a key, and be told why it cannot be.
  await form.getByRole("combobox", { name: "Search models" }).fill("tiny");
  await form.getByRole("button", { name: "Try it" }).click();
  await form.getByText(/It does not answer\..*key/).waitFor();
  await takeScreenshot(on.page, "choose model, no key");
  await form.getByRole("button", { name: "Set a key" }).click();
  await form.getByLabel("Key of Own server").fill(secret);
  await on.page.keyboard.press("Enter");
  await form.getByText("The key of Own server is set.").waitFor();
  await form.getByRole("button", { name: "Try it" }).click();
  await form.getByText(/It answers: [\d.]+ s/).waitFor();
  await takeScreenshot(on.page, "choose model, tried");
  await form.getByRole("combobox", { name: "Search models" }).press("Enter");
  await form.waitFor({ state: "hidden" });
  process.stdout.write(`a model chosen in ${Math.round(performance.now() - began)} ms\n`);

  const before = provider.requests.length;
  await on.repl.send("hello");
  await on.repl.see("Hello from the model.");
  await on.repl.idle();
  const asked = provider.requests.slice(before);
  expect(asked.map(({ headers }) => headers.authorization)).toContain(`Bearer ${secret}`);
  expect(asked[0]?.body).toMatchObject({ model: "tiny-coder" });

  // Also of a new session in a page that was loaded again.
  await on.page.reload();
  await on.repl.beginSession();
  await root.getByRole("button", { name: "tiny-coder" }).waitFor();
  expect(await root.getByText("No language model is chosen yet.").count()).toBe(0);

  expect(filesHolding(gennai.stateDirectory, secret)).toEqual([]);
  expect(gennai.output).not.toContain(secret);
  const kept = await on.page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  expect(kept).not.toContain(secret);
  expect(kept).toContain("tiny-coder");
});
