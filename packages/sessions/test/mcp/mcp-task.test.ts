import { Client, ProtocolError, SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client";
import { expect, test, vi } from "vitest";
import { followTask } from "#mcp/mcp-task";

/** Follows a task of a server that gives these answers, one for each look; an error is none. */
async function follow(...answers: readonly (object | Error)[]) {
  const client = new Client({ name: "x", version: "1" }, {});
  const asked: string[] = [];
  let looks = 0;
  vi.spyOn(client, "request").mockImplementation(async ({ method }) => {
    asked.push(method);
    const answer = answers[looks++] ?? {};
    if (answer instanceof Error) throw answer;
    return answer;
  });
  const { signal } = new AbortController();
  const ports = {
    signal,
    timeout: 1_000,
    onState: () => undefined,
    elicit: async () => ({ action: "cancel" }) as const,
  };
  const ended = followTask(client, { taskId: "1", status: "working", pollInterval: 20 }, ports);
  const result = await ended.catch((error: unknown) => String(error));
  return { result, asked };
}

test("a look that reached nobody is taken again, and ends nothing there", async () => {
  const { result, asked } = await follow(
    new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, "bad gateway", { status: 502 }),
    new TypeError("fetch failed"),
    { taskId: "1", status: "completed" },
    { content: [] },
  );
  expect(result).toEqual({ content: [] });
  expect(asked).toEqual(["tasks/get", "tasks/get", "tasks/get", "tasks/result"]);
});

test("what the server itself says is not asked again, and ends nothing there either", async () => {
  const { result, asked } = await follow(new ProtocolError(-32602, "no such task"));
  expect([result, asked]).toEqual([expect.stringContaining("no such task"), ["tasks/get"]]);
});
