import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { WriteTodosResponseSchema } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import type { Todo } from "@gennai/protocol/model/session/todo";
import { signal } from "@preact/signals";
import { expect, test, vi } from "vitest";
import { TodoStore, type TodoStoreOptions } from "#control/session/todo-store";

const todo = (id: string, content: string): Todo => ({
  id,
  content,
  status: "pending",
  priority: "medium",
  created: "",
  updated: "",
});
const contents = (store: TodoStore) => store.todos.value.map(({ content }) => content);

function deskWith(
  writeTodos: (items: readonly { readonly id?: string; readonly content?: string }[]) => Promise<void>,
) {
  const told = signal<readonly Todo[]>([todo("1", "one")]);
  const client: TodoStoreOptions["client"] = {
    async writeTodos({ items = [] }) {
      await writeTodos(items);
      return create(WriteTodosResponseSchema, { items });
    },
  };
  return { told, store: new TodoStore({ client, sessionId: "s", todos: told }) };
}

test("an edit shows at once, and goes away when the server refuses", async () => {
  const { store } = deskWith(async () => {
    throw new ConnectError("At most 500 todos fit in a list.", Code.InvalidArgument);
  });
  store.edit({ type: "add", id: "2", content: "two" });
  expect(contents(store)).toEqual(["one", "two"]);
  await vi.waitFor(() => expect(contents(store)).toEqual(["one"]));
  expect(store.problem.value?.message).toBe("At most 500 todos fit in a list.");
});

test("edits are sent one by one, each on the list that the ones before made", async () => {
  const sent: (readonly (string | undefined)[])[] = [];
  const { store, told } = deskWith(async (items) => {
    await Promise.resolve();
    sent.push(items.map(({ content }) => content));
    if (sent.length === 1) told.value = [todo("1", "one"), todo("m", "the model's"), todo("2", "two")];
  });
  store.edit({ type: "add", id: "2", content: "two" });
  store.edit({ type: "change", id: "1", change: { content: "uno" } });
  store.edit({ type: "remove", id: "2" });
  expect(contents(store)).toEqual(["uno"]);
  await vi.waitFor(() => expect(sent).toHaveLength(3));
  expect(sent).toEqual([
    ["one", "two"],
    ["uno", "the model's", "two"],
    ["uno", "the model's"],
  ]);
  await vi.waitFor(() => expect(contents(store)).toEqual(["uno", "the model's"]));
});
