import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { chmod, readFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { connect } from "@gennai/client/connection/connection";
import { proveServer } from "@gennai/client/connection/prove-server";
import { runPolicies } from "@gennai/governance/gate/decide/run-policies";
import { findBubblewrap } from "@gennai/machine/sandbox/host/find-bubblewrap";
import { findServers } from "@gennai/server/http/routes/discovery";
import { openStore } from "@gennai/store/sqlite/store";
import { builtProgram } from "@gennai/testkit/built-program";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer } from "@gennai/testkit/test-server";
import { allEvents, codeOf, endState, eventsOf, runTurn, startSession } from "../../../e2e/rpc/session-client.ts";
import { type Checks, check, notApplicable } from "../../corpus-case.ts";
import { callTool, expectCode, scriptOf } from "../../tool-call.ts";
import { reconnectResumes, vanishedClientDenies } from "../protocol/protocol-session.ts";

const serving = builtProgram(new URL("../../../crash/server/serving-process.ts", import.meta.url));
const isRoot = process.getuid?.() === 0;
const hello = { match: ".", steps: [{ text: ["Hello."] }] };

const soak = notApplicable("A soak of ten thousand turns takes longer than tests may; benchmarks watch memory.");

/** Runs the same on processes of a server: a child with its own state, killed at the end. */
async function withChild(
  work: (child: { readonly process: ChildProcess; readonly port: number; readonly token: string }) => Promise<void>,
): Promise<void> {
  await using home = await startTestServer({ script: [hello] });
  await using state = await temporaryDirectory();
  const script = await home.scriptFile([hello]);
  const token = "c".repeat(43);
  const options = { port: 0, token, stateDir: state.root, workspace: home.workspace.root, script };
  const child = spawn(process.execPath, [serving, JSON.stringify(options)], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "exit");
  try {
    const [line] = await once(child.stdout, "data");
    await work({ process: child, port: Number(line), token });
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
}

export const processChecks: Checks = {
  "PRC-002": notApplicable(
    "test/crash/server and test/crash/store kill servers and writers at random instants; it takes longer than a case may.",
  ),
  "PRC-004": check(async () => {
    await withChild(async (child) => {
      child.process.stdout?.destroy();
      child.process.stderr?.destroy();
      const client = connect({ baseUrl: `http://127.0.0.1:${child.port}`, token: child.token });
      const { sessionId } = await client.startSession({});
      const events = await Array.fromAsync(client.invoke({ sessionId, userInput: "go" }));
      assert.equal(endState(events), "COMPLETED");
      assert.equal(child.process.exitCode, null);
    });
    await expectCode("ok", "Bash", { command: "seq 100000 | head -1" });
  }),
  "PRC-005": check(async () => {
    const input = {
      tool: "Bash",
      access: "change",
      analysis: { statement: "Run", effects: [] },
      sessionId: "s",
      turnId: "t",
      args: {},
      risk: "high",
    } as unknown as Parameters<typeof runPolicies>[1];
    const broken = [
      () => {
        throw new Error("broken");
      },
      () => Promise.reject(new Error("broken")),
      () => new Promise<never>(() => undefined),
      () => undefined as never,
    ];
    for (const decide of broken) {
      const { verdict } = await runPolicies([{ name: "hook", kind: "guard", decide }], input, {
        timeoutMs: 50,
        signal: new AbortController().signal,
      });
      assert.equal(verdict.type, "deny");
    }
  }),
  "PRC-006": notApplicable("For the next start it is a kill like any other: see PRC-002."),
  "PRC-008": isRoot
    ? notApplicable("Permissions do not hold for root, who runs this.")
    : check(async () => {
        await expectCode(
          ["permission_denied", "no_permission"],
          "Read",
          { file_path: "src/a.ts" },
          {
            prepare: (server) => chmod(server.workspace.path("src/a.ts"), 0),
            after: (server) => chmod(server.workspace.path("src/a.ts"), 0o644),
          },
        );
      }),
  "PRC-009": check(async () => {
    const count = (): number => readdirSync("/proc/self/fd").length;
    // Each a little different: the same calls over and over would end the turn as a loop.
    const uses = Array.from({ length: 40 }, (_, index) => [
      { tool: "Read", args: { file_path: "src/a.ts", limit: index + 1 } },
      { tool: "Grep", args: { pattern: `a|${index}` } },
      { tool: "Bash", args: { command: `echo ${index}` } },
    ]).flat();
    await using server = await startTestServer({
      files: { "src/a.ts": "a\n" },
      script: [scriptOf(uses)],
      settings: { maxIterations: 1000 },
    });
    const sessionId = await startSession(server);
    await server.client.getServerInfo({});
    const before = count();
    assert.equal(endState(await runTurn(server, sessionId, "go")), "COMPLETED");
    assert.ok(count() <= before + 3, `${before} descriptors became ${count()}`);
  }),
  "PRC-010": notApplicable("A read-only file system needs a mount, which tests may not make."),
  "PRC-011": notApplicable("It is about Windows."),
  // Design: no lock on the workspace; servers share the store, and one turn of a session runs at a time.
  "PRC-013": check(async () => {
    await using first = await startTestServer({
      script: [{ match: ".", steps: [{ delay_ms: 400 }, { text: ["a"] }] }],
    });
    const script = await first.scriptFile([hello]);
    const options = { port: 0, token: first.token, stateDir: first.stateDir, workspace: first.workspace.root, script };
    const child = spawn(process.execPath, [serving, JSON.stringify(options)], { stdio: ["ignore", "pipe", "inherit"] });
    const ended = once(child, "exit");
    try {
      const [line] = await once(child.stdout, "data");
      const second = connect({ baseUrl: `http://127.0.0.1:${Number(line)}`, token: first.token });
      const sessionId = await startSession(first);
      const { turnId } = await first.client.startTurn({ sessionId, userInput: "go", clientTurnId: "a" });
      assert.equal(
        await codeOf(second.startTurn({ sessionId, userInput: "me", clientTurnId: "b" })),
        "failed_precondition",
      );
      const events = await Array.fromAsync(second.subscribe({ sessionId, untilTurnId: turnId }));
      assert.equal(endState(events), "COMPLETED");
    } finally {
      child.kill("SIGKILL");
      await ended;
    }
  }),
  "PRC-014": check(async () => {
    await using server = await startTestServer({ server: { announce: true } });
    const [name = ""] = readdirSync(`${server.stateDir}/servers`);
    const file = `${server.stateDir}/servers/${name}`;
    const text = await readFile(file, "utf8");
    const record = JSON.parse(text) as Record<string, unknown>;
    const gone = spawn(process.execPath, ["-e", ""]);
    await once(gone, "exit");
    await using stale = await temporaryDirectory();
    await stale.write(`servers/${name}`, JSON.stringify({ ...record, pid: gone.pid }));
    await chmod(stale.path("servers"), 0o700);
    await chmod(stale.path(`servers/${name}`), 0o600);
    const found = await findServers(stale.root);
    assert.deepEqual([found.servers, found.ignored.length], [[], 1]);
    // A pid that another process has by now: the challenge detects it.
    assert.deepEqual(await proveServer(server.url, "x".repeat(43)), { type: "other-token" });
  }),
  "PRC-015": check(vanishedClientDenies),
  "PRC-016": check(reconnectResumes),
  "PRC-017": notApplicable("It is about the editor's extension, which is not part of this release."),
  "PRC-018": check(async () => {
    await using server = await startTestServer({ script: [hello, hello] });
    const sessionId = await startSession(server);
    await runTurn(server, sessionId, "before");
    await server.restart();
    assert.equal(endState(await runTurn(server, sessionId, "after")), "COMPLETED");
    assert.equal(eventsOf(await allEvents(server, sessionId), "userMessage").length, 2);
  }),
  "PRC-019": check(async () => {
    await using state = await temporaryDirectory();
    const quiet = { onWarning: () => undefined };
    await (await openStore(state.root, quiet))[Symbol.asyncDispose]();
    const file = state.path("gennai.db");
    {
      const database = new DatabaseSync(file);
      database.exec("PRAGMA user_version = 9999");
      database.close();
    }
    const before = await readFile(file);
    await assert.rejects(
      openStore(state.root, quiet),
      (error: unknown) => error instanceof Error && error.name === "StoreError",
    );
    assert.ok(before.equals(await readFile(file)));
  }),
  "PRC-021": notApplicable("A test cannot put the machine to sleep."),
  "PRC-022": notApplicable("A test may not set the machine's clock; SES-023 checks that clients' clocks do not count."),
  "PRC-023": check(async () => {
    const zone = process.env["TZ"];
    process.env["TZ"] = "Pacific/Auckland";
    try {
      await using server = await startTestServer({ script: [hello] });
      const sessionId = await startSession(server);
      const { items } = await server.client.writeTodos({ sessionId, items: [{ content: "a" }] });
      assert.match(items[0]?.created ?? "", /Z$/);
      for (const { time } of await runTurn(server, sessionId, "go")) {
        assert.ok(Math.abs(Number(time?.seconds ?? 0n) * 1000 - Date.now()) < 60_000);
      }
    } finally {
      if (zone === undefined) delete process.env["TZ"];
      else process.env["TZ"] = zone;
    }
  }),
  "PRC-025": check(async () => {
    const files = { "descriptors.sh": "ls -l /proc/self/fd\n" };
    const { code, output } = await callTool(
      "Bash",
      { command: "sh descriptors.sh" },
      { files, whileAsked: async () => undefined },
    );
    assert.equal(code, "ok", output);
    const opened = [...output.matchAll(/ (\d+) -> (\S+)/g)];
    assert.ok(opened.length >= 3, output);
    for (const [, number, target] of opened) {
      // Its own three, and the directory it lists; what the server has open is covered by nothing.
      if (Number(number) > 2) assert.match(target ?? "", /^\/(?:dev\/null|proc\/)/, output);
    }
    assert.ok(!/\.db/.test(output), output);
  }),
  "PRC-026": check(async () => {
    const uses = Array.from({ length: 60 }, (_, index) => ({ tool: "Bash", args: { command: `echo ${index}` } }));
    await using server = await startTestServer({ script: [scriptOf(uses)], settings: { maxIterations: 1000 } });
    assert.equal(endState(await runTurn(server, await startSession(server), "go")), "COMPLETED");
    const children = readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => {
        try {
          const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
            .replace(/^.*\) /s, "")
            .split(" ");
          return fields[1] === `${process.pid}` && fields[0] === "Z" ? [pid] : [];
        } catch {
          return [];
        }
      });
    assert.deepEqual(children, []);
  }),
  "PRC-027": soak,
  // Design: without a sandbox what is proven to read runs, all else asks; the state is said and recorded.
  "PRC-028": check(async () => {
    await expectCode(
      "ok",
      "Bash",
      { command: "ls" },
      {
        after: async (server) => {
          assert.equal((await server.client.getServerInfo({})).isolation, "unsandboxed");
          await server.running[Symbol.asyncDispose]();
          assert.ok((await server.workspace.read(".orchestration/agent_trace.jsonl")).includes("unsandboxed"));
        },
      },
    );
    await expectCode("nobody_to_ask", "Bash", { command: "touch made" });
  }),
  "PRC-029": check(async () => {
    // Whatever the search path: a program of the workspace does not count as the system's.
    await using directory = await temporaryDirectory({ bwrap: '#!/bin/sh\ntouch used\nexec "$@"\n' });
    await chmod(directory.path("bwrap"), 0o777);
    const path = process.env["PATH"];
    process.env["PATH"] = `${directory.root}:${path}`;
    try {
      assert.ok(!findBubblewrap()?.startsWith(directory.root));
      assert.equal(findBubblewrap([directory.path("bwrap")]), undefined);
    } finally {
      process.env["PATH"] = path;
    }
  }),
  "PRC-030": notApplicable(
    "The sandbox is tried when the server starts; its own tests check that a command never falls back.",
  ),
};
