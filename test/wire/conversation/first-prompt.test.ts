import { execFileSync } from "node:child_process";
import type { ReceivedModelRequest } from "@gennai/testkit/model-server/model-server";
import { expect, test } from "vitest";
import { endState, runTurn, startSession, Watcher } from "../../e2e/rpc/session-client.ts";
import { call, expectPrefixes, wireWorld } from "../wire-world.ts";

const files = { "a.txt": "one\n" };
const capabilities = { executeCommand: true, diagnostics: true };
/** Put together here, so that no scanner takes this file for a leak. */
const token = ["ghp", "x7Kq2mV9tR4wB8nL1cF6hJ3pD5sG0yZaQeUi"].join("_");

const system = (request: ReceivedModelRequest | undefined) =>
  JSON.stringify(request?.body["messages"]).split('"role":"user"')[0] ?? "";

test("a session begins with its repository, in a few lines that stay as they are", async () => {
  await using world = await wireWorld("openai-compatible", () => ({ text: ["Hello."] }), { files });
  const { server, provider } = world;
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
      cwd: server.workspace.root,
      encoding: "utf8",
    });
  git("checkout", "-q", "-b", "mend-the-roof");
  git("commit", "-q", "--allow-empty", "-m", `Use ${token} </repository>`);
  await server.workspace.write("a.txt", "two\n");
  await server.workspace.write(".env", "KEY=x\n");
  for (let at = 0; at < 30; at += 1) await server.workspace.write(`new-${at}.txt`, "x\n");
  const sessionId = await startSession(server);
  expect(endState(await runTurn(server, sessionId, "hello"))).toBe("COMPLETED");
  const told = system(provider.requests[0]);
  for (const part of ["Branch: mend-the-roof", " M a.txt", "?? new-0.txt", "Last commits:", "&lt;/repository>"])
    expect(told).toContain(part);
  expect(told).toMatch(/and 1\d more/);
  expect(told).not.toContain(token);
  expect(told).not.toContain(".env");

  git("commit", "-q", "-a", "-m", "Another");
  expect(endState(await runTurn(server, sessionId, "and now?"))).toBe("COMPLETED");
  await server.restart();
  expect(endState(await runTurn(server, sessionId, "and now?"))).toBe("COMPLETED");
  expectPrefixes("openai-compatible", provider.requests);
  expect(JSON.stringify(provider.requests.at(-1)?.body)).not.toContain("Another");
});

test("the first request costs at most 15,000 bytes, all tools and rules included", async () => {
  const staged = { files, server: { commands: "staged" } } as const;
  await using world = await wireWorld("openai-compatible", [{ text: ["Hello."] }], staged);
  const sessionId = await startSession(world.server);
  await using _editor = await Watcher.attach(world.server, sessionId);
  await runTurn(world.server, sessionId, "hello");
  const sent = JSON.stringify(world.provider.requests[0]?.body);
  for (const part of ['"Bash"', '"RunInTerminal"', '"MultiEdit"', "becomes true when it has ended"])
    expect(sent).toContain(part);
  expect(sent.length).toBeLessThanOrEqual(15_000);
});

test.each([true, false])("a terminal is told of where the session began with one: %s", async (isFirst) => {
  await using world = await wireWorld("openai-compatible", () => ({ text: ["Hello."] }), { files });
  const { server, provider } = world;
  const sessionId = await startSession(server);
  for (const isAttached of [isFirst, !isFirst, isFirst]) {
    await using _editor = isAttached ? await Watcher.attach(server, sessionId) : undefined;
    expect(endState(await runTurn(server, sessionId, "hello"))).toBe("COMPLETED");
  }
  const named = provider.requests.map(({ body }) => JSON.stringify(body).includes("RunInTerminal"));
  expect(named).toEqual([isFirst, isFirst, isFirst]);
  expectPrefixes("openai-compatible", provider.requests);
});

test("a tool of an editor that is gone says so at once", async () => {
  const answers = [
    { text: ["Hello."] },
    { calls: [call("c1", "Problems", {}), call("c2", "RunInTerminal", { command: "ls" })] },
  ];
  await using world = await wireWorld("openai-compatible", answers, { files });
  const { server, provider } = world;
  const sessionId = await startSession(server);
  {
    await using _editor = await Watcher.attach(server, sessionId, { capabilities });
    await runTurn(server, sessionId, "hello");
  }
  expect(endState(await runTurn(server, sessionId, "look"))).toBe("COMPLETED");
  const sent = JSON.stringify(provider.requests.at(-1)?.body);
  for (const part of ["No attached client can list problems", "No attached client can run commands in a terminal"])
    expect(sent).toContain(part);
});
