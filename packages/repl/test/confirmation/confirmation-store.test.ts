import type { ConfirmationQuestion } from "@gennai/client/connection/editor";
import { expect, test } from "vitest";
import { ConfirmationStore } from "#confirmation/confirmation-store";
import { askedQuestion } from "../../../client/test/host/asked-question.ts";

const question = (requestId: string): ConfirmationQuestion =>
  askedQuestion({ requestId, computed: { risk: "high", paths: [], rule: "r", reason: "", policySha256: "" } });
const open = (store: ConfirmationStore) => store.open.value.map(({ requestId }) => requestId);

test("questions wait in their order, each for its own answer", async () => {
  const store = new ConfirmationStore();
  const { signal } = new AbortController();
  const [first, second] = [store.confirm(question("1"), { signal }), store.confirm(question("2"), { signal })];
  expect(open(store)).toEqual(["1", "2"]);
  expect(store.answer("2", { answer: "no", reason: "not now" })).toBe(true);
  expect(await second).toEqual({ answer: "no", reason: "not now" });
  expect(open(store)).toEqual(["1"]);
  store.answer("1", { answer: "yes", scope: "once" });
  expect(await first).toEqual({ answer: "yes", scope: "once" });
  expect(open(store)).toEqual([]);
  expect(store.answer("1", { answer: "yes", scope: "once" })).toBe(false);
});

test("a question that was answered elsewhere goes away unanswered", async () => {
  const store = new ConfirmationStore();
  const over = new AbortController();
  const asked = store.confirm(question("1"), { signal: over.signal });
  over.abort(new Error("over"));
  await expect(asked).rejects.toThrow("over");
  expect(open(store)).toEqual([]);
  await expect(store.confirm(question("2"), { signal: over.signal })).rejects.toThrow("over");
});

test("asked again, the newer one is answered", async () => {
  const store = new ConfirmationStore();
  const { signal } = new AbortController();
  const before = store.confirm(question("1"), { signal });
  const after = store.confirm(question("1"), { signal });
  await expect(before).rejects.toThrow("asked again");
  expect(open(store)).toEqual(["1"]);
  store.answer("1", { answer: "yes", scope: "once" });
  expect(await after).toEqual({ answer: "yes", scope: "once" });
});
