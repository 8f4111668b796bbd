import { type Agent, AgentError, type AgentEvent, gennai } from "@gennai/client";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, it } from "vitest";

/** Asks before it runs. */
const asks = "run sed -i s/--test/--version/ package.json";
const files = { "package.json": '{ "scripts": { "test": "node --test" } }\n', "src/a.txt": "one\n" };

async function told(events: AsyncIterable<AgentEvent>): Promise<readonly AgentEvent[]> {
  return Array.fromAsync(events);
}

const refusedBy = (agent: Agent) => told(agent.run(asks)).then((events) => events.at(-1));

it.each([
  { answers: "yes", confirm: () => ({ answer: "yes", scope: "once" }) as const, refused: [] },
  { answers: "no", confirm: () => ({ answer: "no", reason: "not today" }) as const, refused: ["Bash"] },
  { answers: "nothing: there is nobody to ask", confirm: undefined, refused: ["Bash"] },
])("the program answers a question of the gate: $answers", async ({ confirm, refused }) => {
  await using server = await startTestServer({ files });
  const options = { server: server.url, token: server.token };
  await using agent = await gennai(confirm === undefined ? options : { ...options, confirm });
  expect(await refusedBy(agent)).toMatchObject({ type: "end", outcome: "completed", refused });
  const text = await server.workspace.read("package.json");
  expect(text.includes("--version")).toBe(refused.length === 0);
});

it("a change is taken back, and a copy of the session goes its own way", async () => {
  await using server = await startTestServer({ files });
  await using agent = await gennai({ server: server.url, token: server.token });
  const events = await told(agent.run("append two to src/a.txt"));
  const changed = events.find((event) => event.type === "files");
  expect(changed).toMatchObject({ changed: ["src/a.txt"], undone: false });
  await using copy = await agent.fork();
  expect(copy.sessionId).not.toBe(agent.sessionId);
  expect(await agent.undo(changed?.changeSetId)).toMatchObject({ files: ["src/a.txt"] });
  expect(await server.workspace.read("src/a.txt")).toBe("one\n");
});

it("a turn that runs is told something more, and stopped", async () => {
  const steps = [{ tool: { name: "Bash", args: { command: "sleep 600" } } }];
  await using server = await startTestServer({ script: [{ match: "wait", steps }] });
  await using agent = await gennai({ server: server.url, token: server.token });
  const types: string[] = [];
  for await (const event of agent.run("wait")) {
    types.push(event.type);
    if (event.type !== "call") continue;
    await agent.queue("hurry up");
    await agent.stop("enough");
  }
  expect(types.at(-1)).toBe("end");
  await expect(agent.queue("too late")).rejects.toMatchObject({ name: "AgentError", code: expect.any(String) });
});

it("a token is not sent to a server that does not prove that it knows it", async () => {
  await using server = await startTestServer();
  const joined = gennai({ server: server.url, token: "u".repeat(43) });
  await expect(joined).rejects.toBeInstanceOf(AgentError);
  await expect(joined).rejects.toMatchObject({ code: "unauthenticated" });
});

it("what is iterated ends with the agent", async () => {
  await using server = await startTestServer();
  const agent = await gennai({ server: server.url, token: server.token });
  const all = told(agent.events());
  await agent[Symbol.asyncDispose]();
  await expect(all).rejects.toMatchObject({ code: "canceled" });
});
