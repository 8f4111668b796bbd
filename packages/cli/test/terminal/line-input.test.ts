import { expect, test } from "vitest";
import { LineInput } from "#terminal/line-input";
import { testConsole } from "../test-console.ts";

const { signal } = new AbortController();

test("only what is typed after the question answers it", async () => {
  const console = testConsole("/");
  using input = new LineInput(console, () => {});
  console.input.write("y\n");
  const answer = input.question("really? ", { signal });
  await expect.poll(() => console.complained()).toBe("really? ");
  console.input.write("n\n");
  expect(await answer).toBe("n");
});

test("requests from a pipe wait for their turn", async () => {
  const console = testConsole("/");
  using input = new LineInput(console, () => {});
  console.input.end("one\ntwo\n");
  await expect.poll(() => input.line("", { signal })).toBe("one");
  expect(await input.line("", { signal })).toBe("two");
  expect(await input.line("", { signal })).toBeUndefined();
});

test("a question that is over gives no answer", async () => {
  const console = testConsole("/");
  using input = new LineInput(console, () => {});
  const controller = new AbortController();
  const answer = input.question("really? ", { signal: controller.signal });
  await expect.poll(() => console.complained()).toBe("really? ");
  controller.abort();
  expect(await answer).toBeUndefined();
});
