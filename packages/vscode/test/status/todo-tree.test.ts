import type { AgentSession } from "@gennai/client/session/agent-session";
import type { TodoItem } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { oneAfterTheOther, raceJobs } from "@gennai/testkit/race-jobs";
import { expect, test, vi } from "vitest";
import { TodoTree } from "../../src/status/todo-tree.ts";

vi.mock("vscode", () => ({}));

test("changes go to the server one after the other, each to the list that the one before it left", async () => {
  const jobs = new Map<string, () => Promise<void>>();
  const writeTodos = async ({ items }: { readonly items: readonly TodoItem[] }) => {
    await jobs.get(items.at(-1)?.content ?? "")?.();
    return { items };
  };
  const session = { sessionId: "s", client: { writeTodos } } as unknown as AgentSession;
  const problems: unknown[] = [];
  const tree = new TodoTree(
    { session, facts: { todos: [] } },
    { changed: () => undefined, onProblem: (error) => problems.push(error) },
  );
  const add = (job: () => Promise<void>, number: number) => {
    jobs.set(String(number), job);
    return tree.add(String(number));
  };
  expect(await raceJobs(add)).toEqual(oneAfterTheOther);
  expect(tree.getChildren().map(({ content }) => content)).toEqual(["1", "3", "4"]);
  expect(problems).toEqual([new Error("Job 2 fails.")]);
});
