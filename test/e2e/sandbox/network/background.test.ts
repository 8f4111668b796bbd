import { ConfirmationScope } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";
import { AskedSession } from "../asked-session.ts";
import { bash, type Call, inBackground, kill, output, printed } from "../background-calls.ts";
import { loopbackService } from "../loopback-service.ts";

/** A server that needs a database before it listens; and one that asks only when it is asked itself. */
const files = {
  "eager.mjs": `
import { createServer } from "node:http";
const rows = await fetch(process.argv[2]).then((answer) => answer.text());
createServer((_request, response) => response.end("rows: " + rows)).listen(4321, () => console.log("listening"));
`,
  "lazy.mjs": `
import { createServer } from "node:http";
createServer(async (_request, response) => {
  const rows = await fetch(process.argv[2]).then((answer) => answer.text(), (error) => String(error.cause?.code ?? error));
  response.end("rows: " + rows);
}).listen(4321, () => console.log("listening"));
`,
};

/** Each turn makes one of the calls. */
async function asked(calls: readonly Call[]) {
  const server = await startTestServer({
    files,
    script: calls.map(([name, args]) => ({ steps: [call(name, args), { text: ["Done."] }] })),
    server: { commands: "staged" },
  });
  const session = await AskedSession.start(server);
  return {
    server,
    session,
    [Symbol.asyncDispose]: async () => {
      await session[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

const fetched = "curl -sS --max-time 20 --retry 20 --retry-connrefused --retry-delay 1 http://localhost:4321/";

describe("a server in the background that needs a service", () => {
  test("is asked about when it failed for want of it, and has a way of its own until it ends", async () => {
    using database = await loopbackService({ "/": "forty-two" });
    const where = `127.0.0.1:${database.port}`;
    const serve = `node eager.mjs http://${where}/`;
    const title = `Let node eager.mjs reach ${where}?`;
    await using place = await asked([
      inBackground(serve),
      inBackground(serve),
      bash(fetched),
      bash(`curl -sS --max-time 5 --noproxy '' http://${where}/stolen`),
      kill("b2"),
      inBackground(serve),
    ]);
    const { session, server } = place;
    // On a busy machine it fails behind the first look: then its next start is asked about.
    let started = await session.turn("once");
    await printed(server, session.id, "never");
    if (started.questions.length === 0) started = await session.turn("once");
    else expect((await session.turn("no")).questions).toHaveLength(1);
    expect(
      started.questions.map(({ title }) => title),
      started.output,
    ).toEqual([title]);
    expect(started.questions[0]?.impactStatement).toContain("the way is open until it ends");
    expect(started.questions[0]?.offeredScopes).toEqual([ConfirmationScope.ONCE]);
    expect(started.output).toContain("[b2 runs;");
    expect(started.output).toContain(`[it may reach ${where} until it ends]`);
    await printed(server, session.id, "listening", { runId: "b2" });

    // Later commands reach it where it listens, and nothing of its way out.
    const reached = await session.turn();
    expect(reached).toMatchObject({ questions: [], output: expect.stringContaining("rows: forty-two") as string });
    const stolen = await session.turn("no");
    expect(stolen.questions).toHaveLength(1);
    expect((await session.turn()).error).toBe("");
    // Started again, it is asked about first.
    const again = await session.turn("no");
    expect(again.questions).toHaveLength(1);
    expect(again.output).toContain(`It wanted ${where}.`);
    expect(database.asked).toEqual(["/"]);

    await server.running[Symbol.asyncDispose]();
    const records = (await server.workspace.read(".orchestration/agent_trace.jsonl")).split("\n");
    const ended = records.filter((line) => line.includes('"background":"ended"'));
    const recorded = (id: string, state: string) =>
      expect(ended.find((line) => line.includes(`"id":"${id}"`))).toMatch(
        new RegExp(`"connections":\\[[^\\]]*"port":${database.port}[^\\]]*"state":"${state}"`),
      );
    recorded("b1", "refused");
    recorded("b2", "allowed");
  });

  test("and runs on without it says so; ended and started again, it is asked about first", async () => {
    using database = await loopbackService({ "/": "forty-two" });
    const where = `127.0.0.1:${database.port}`;
    const serve = `node lazy.mjs http://${where}/`;
    const title = `Let node lazy.mjs reach ${where}?`;
    await using place = await asked([inBackground(serve), output(), kill("b1"), inBackground(serve), bash(fetched)]);
    const { session, server } = place;
    expect((await session.turn()).questions).toEqual([]);
    await printed(server, session.id, "listening");
    // A user of this machine uses it, while no command of the session runs.
    const { opened } = await server.client.openBackgroundPort({ sessionId: session.id, runId: "b1", port: 4321 });
    expect(await (await fetch(`http://127.0.0.1:${opened?.localPort}/`)).text()).toMatch(/^rows: E/);
    const said = await session.turn();
    expect(said.output).toContain(`[refused: ${where}; if it needs that, end it and start the same command again`);
    await session.turn();
    const again = await session.turn("once");
    expect(
      again.questions.map(({ title }) => title),
      said.output,
    ).toEqual([title]);
    await printed(server, session.id, "listening", { runId: "b2" });
    expect(database.asked).toEqual([]);
    expect((await session.turn()).output).toContain("rows: forty-two");
    // The person's own way leads to the same.
    const own = await server.client.openBackgroundPort({ sessionId: session.id, runId: "b2", port: 4321 });
    expect(await (await fetch(`http://127.0.0.1:${own.opened?.localPort}/`)).text()).toBe("rows: forty-two");
  });
});
