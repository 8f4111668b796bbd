import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommandLine } from "@gennai/cli/command-line";
import { BackgroundRunState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { EmergencyControl } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { processesSaying } from "@gennai/testkit/processes";
import { call } from "@gennai/testkit/scripted-steps";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { describe, expect, test, vi } from "vitest";
import { testConsole } from "../../../../packages/cli/test/test-console.ts";
import { allEvents, eventsOf, refusalOf, runTurn, startSession } from "../../rpc/session-client.ts";
import { bash, type Call, inBackground, kill, output, printed } from "../background-calls.ts";

/** A server that stages commands; each turn makes these calls, one after the other. */
function serverWith(turns: readonly (readonly Call[])[], options: { readonly commands?: "ask" } = {}) {
  return startTestServer({
    files: { ".gitignore": "dist\n", "a.txt": "one\n", "serve.mjs": program },
    script: turns.map((calls) => ({ steps: [...calls.map(([name, args]) => call(name, args)), { text: ["Done."] }] })),
    server: { commands: options.commands ?? "staged" },
  });
}

/** Serves the files of its directory, and says what it is asked for. */
const program = `
import { createServer } from "node:http";
import { readFileSync, writeFileSync } from "node:fs";
writeFileSync("dist.txt", "written by the server");
createServer((request, response) => {
  console.log("asked for " + request.url);
  try { response.end(readFileSync(request.url === "/secret" ? ".env" : "." + request.url)); } catch (error) { response.statusCode = 404; response.end(error.code); }
}).listen(Number(process.argv[2]), () => console.log("listening with ghp_q7Zk2Vw9Lr4Xn8Bt1Ys6Hd3Fm5Pc0Jg7Ak2E"));
`;

const serve = (port: number): Call => inBackground(`node serve.mjs ${port}`);

async function results(server: TestServer, sessionId: string): Promise<readonly string[]> {
  const events = await runTurn(server, sessionId, "go");
  expect(eventsOf(events, "confirmationRequest")).toEqual([]);
  return eventsOf(events, "toolResult").map(({ error, output: text }) => `${error}|${text}`);
}

async function listed(server: TestServer, sessionId: string) {
  const { runs } = await server.client.listBackgroundRuns({ sessionId });
  return runs.map(({ id, state, end }) => [id, state === BackgroundRunState.RUNNING ? "runs" : end]);
}

describe("a server that the agent starts", () => {
  test("is reached by later commands, sees edits and no secrets, and keeps nothing", async () => {
    await using server = await serverWith([
      [
        bash("mkdir dist && echo built > dist/app.txt"),
        serve(7391),
        bash(
          "curl -s --retry 50 --retry-connrefused --retry-delay 1 localhost:7391/a.txt; curl -s localhost:7391/secret; curl -s localhost:7391/dist/app.txt",
        ),
        ["Write", { file_path: "new.txt", content: "by a tool\n" }],
        bash("for i in $(seq 100); do curl -sf localhost:7391/new.txt && break; sleep 0.1; done"),
        output(),
        kill(),
        bash("curl -s localhost:7391/a.txt || echo nobody"),
      ],
    ]);
    writeFileSync(server.workspace.path(".env"), "TOKEN=canary\n");
    const sessionId = await startSession(server);
    const [, started, first, , seen, said, killed, after] = await results(server, sessionId);
    expect(started).toContain("b1 runs; BashOutput reads what it prints");
    expect(first).toContain("one\nENOENTbuilt");
    expect(seen).toContain("by a tool");
    expect(`${started}${said}`).toContain("listening with [REDACTED:");
    expect(said).toMatch(/asked for \/a\.txt\n[^]*b1 runs/);
    expect(killed).toContain("b1 has ended: stopped by the model");
    expect(after).toContain("nobody");
    expect(existsSync(server.workspace.path("dist.txt"))).toBe(false);
    expect(processesSaying("serve.mjs 7391")).toEqual([]);
    const changes = eventsOf(await allEvents(server, sessionId), "backgroundRunChanged");
    expect(changes.map(({ run }) => [run?.id, run?.end])).toEqual([
      ["b1", ""],
      ["b1", "stopped by the model"],
    ]);
    expect(readdirSync(join(server.stateDir, "stages"), { recursive: true }).map(String)).not.toContainEqual(
      expect.stringContaining("dist.txt"),
    );
  });

  test("is looked at, opened to this machine and stopped by a person, by a client or the command line; it is recorded", async () => {
    await using server = await serverWith([[serve(7392)], [serve(7397)]]);
    const sessionId = await startSession(server);
    await results(server, sessionId);
    const { client } = server;
    const read = await printed(server, sessionId, "listening with [REDACTED:");
    await expect(fetch("http://127.0.0.1:7392/a.txt")).rejects.toThrow();
    const { opened } = await client.openBackgroundPort({ sessionId, runId: "b1", port: 7392 });
    expect(await (await fetch(`http://127.0.0.1:${opened?.localPort}/a.txt`)).text()).toBe("one\n");
    await fetch(`http://127.0.0.1:${opened?.localPort}/more`);
    await printed(server, sessionId, "asked for /more", { from: read });
    const { run } = await client.stopBackgroundRun({ sessionId, runId: "b1" });
    expect(run).toMatchObject({ state: BackgroundRunState.ENDED, end: "stopped by the user", ports: [] });
    await expect(fetch(`http://127.0.0.1:${opened?.localPort}/a.txt`)).rejects.toThrow();
    expect(await refusalOf(client.openBackgroundPort({ sessionId, runId: "b1", port: 7392 }))).toMatchObject({
      code: "not_found",
    });
    expect(await refusalOf(client.stopBackgroundRun({ sessionId, runId: "b9" }))).toMatchObject({
      code: "not_found",
      hint: "There are: b1.",
    });
    await vi.waitFor(() => {
      const ledger = readFileSync(server.workspace.path(".orchestration/agent_trace.jsonl"), "utf8");
      expect(ledger).toMatch(/"background":"port-opened"[^]*"background":"ended"/);
    });

    await results(server, sessionId);
    await printed(server, sessionId, "listening", { runId: "b2" });
    await using home = await temporaryDirectory({ token: server.token });
    const gennai = async (...args: readonly string[]) => {
      const console = testConsole(server.workspace.root, { ...process.env, GENNAI_STATE_DIR: server.stateDir });
      const flags = ["--server", server.url, "--auth-token-file", home.path("token"), "--no-local-files"];
      const code = await runCommandLine(["background", ...args, ...flags], console);
      return { code, output: console.printed(), errors: console.complained() };
    };
    expect((await gennai("list")).output).toMatch(
      new RegExp(`^b2 +runs +node serve.mjs 7397 +\\(session ${sessionId}\\)$`, "m"),
    );
    const [url = ""] = /http:\S+/.exec((await gennai("open", "b2", "7397")).output) ?? [];
    expect(await (await fetch(`${url}/a.txt`)).text()).toBe("one\n");
    expect((await gennai("logs", "b2")).output).toMatch(/listening with \[REDACTED:[^]*asked for \/a\.txt/);
    expect(await gennai("stop", "b2")).toMatchObject({ code: 0, output: "b2 stopped by the user\n" });
    expect(await gennai("stop", "b7")).toMatchObject({ code: 2, errors: expect.stringContaining("has the id b7") });
    expect(await gennai("open", "b2", "99999")).toMatchObject({ code: 2 });
    expect((await gennai("logs", "b2", "--follow")).errors).toContain("b2 stopped by the user");
  });

  test("that rules refuse does not start; one that fails at once says so; one that ends by itself is told with the next result", async () => {
    await using server = await serverWith([
      [inBackground("gennai emergency stop-all off --reason x")],
      [inBackground("echo bad; exit 1")],
      [
        inBackground("until [ -e go.txt ]; do sleep 0.05; done; echo over; exit 4"),
        ["Write", { file_path: "go.txt", content: "" }],
        bash("sleep 1"),
        output("b2"),
      ],
    ]);
    const sessionId = await startSession(server);
    expect(await results(server, sessionId)).toEqual([expect.stringMatching(/people only/)]);
    expect(await listed(server, sessionId)).toEqual([]);
    expect(await results(server, sessionId)).toEqual([expect.stringMatching(/bad\n\[b1 has ended: exit code 1/)]);
    const [, , told, last] = await results(server, sessionId);
    expect(told).toContain("[in the background, b2 has ended: exit code 4; BashOutput shows what it printed last]");
    expect(last).toMatch(/over\n\[b2 has ended: exit code 4\]/);
    expect(await listed(server, sessionId)).toEqual([
      ["b1", "exit code 1"],
      ["b2", "exit code 4"],
    ]);
  });
});

describe("what runs in the background is governed as anything else", () => {
  test("an emergency stop ends it, and so does the end of the server; ids go on where they were", async () => {
    await using server = await serverWith([[serve(7393)], [serve(7394)], [serve(7399)]]);
    const sessionId = await startSession(server);
    await results(server, sessionId);
    expect(processesSaying("serve.mjs 7393")).not.toEqual([]);
    const { governance } = server;
    const stopAll = { control: EmergencyControl.STOP_ALL, tool: "", by: "ann", reason: "a test" };
    await governance.setEmergencyControl({ ...stopAll, enabled: true });
    expect(processesSaying("serve.mjs 7393")).toEqual([]);
    expect(await listed(server, sessionId)).toEqual([["b1", "stopped by an emergency control"]]);
    await governance.setEmergencyControl({ ...stopAll, enabled: false });
    const [again] = await results(server, sessionId);
    expect(again).toContain("b2 runs");
    await server.restart();
    expect(processesSaying("serve.mjs 7394")).toEqual([]);
    expect(await listed(server, sessionId)).toEqual([]);
    expect(await results(server, sessionId)).toEqual([expect.stringContaining("b3 runs")]);
    const changes = eventsOf(await allEvents(server, sessionId), "backgroundRunChanged");
    expect(changes.map(({ run }) => [run?.id, run?.end])).toEqual([
      ["b1", ""],
      ["b1", "stopped by an emergency control"],
      ["b2", ""],
      ["b2", "stopped by the end of the server"],
      ["b3", ""],
    ]);
  });

  test("there are at most eight, and all end with the server", async () => {
    const sleeps = Array.from({ length: 9 }, (): Call => inBackground("sleep 7395"));
    const server = await serverWith([sleeps]);
    try {
      const all = await results(server, await startSession(server));
      expect(all.filter((one) => one.includes("runs; BashOutput"))).toHaveLength(8);
      expect(all.at(-1)).toContain("runs 8 commands in the background");
    } finally {
      await server[Symbol.asyncDispose]();
    }
    expect(processesSaying("sleep 7395")).toEqual([]);
  });

  test("where commands are not staged there is no such thing, and the model is told", async () => {
    await using server = await serverWith([[serve(7396), output(), bash("true")]], { commands: "ask" });
    const [refused, unknown] = await results(server, await startSession(server));
    expect(refused).toContain("Nothing can run in the background: commands are not staged here.");
    expect(unknown).toMatch(/BashOutput/);
  });
});
