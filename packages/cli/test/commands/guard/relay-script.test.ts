import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { announce, answering, given, hookCall } from "@gennai/testkit/guard-hook";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer } from "@gennai/testkit/test-server";
import { describe, expect, test, vi } from "vitest";
import { relayScript } from "#commands/guard/relay-script";
import { provenServers } from "#connection/proven-servers";

/** Starts the relay as a host does. What it becomes where nobody listens: a program that says what it was given. */
async function relayed(
  stateDir: string,
  cwd: string,
  input: string,
  more: NodeJS.ProcessEnv = {},
  script = relayScript,
) {
  const words = ["-e", script, "/bin/sh", "-c", 'printf "became %s " "$*"; cat', "sh", "guard", "claude-code"];
  const child = spawn("/usr/bin/perl", words, {
    cwd,
    env: { PATH: "/usr/bin:/bin", PWD: cwd, GENNAI_STATE_DIR: stateDir, ...more },
    stdio: ["pipe", "pipe", "pipe"],
  });
  return given(child, input);
}

/** The same by Node, as where there is no Perl. */
async function relayedByNode(stateDir: string, input: string) {
  const relay = JSON.stringify(import.meta.resolve("#guard-relay"));
  const ask = `import(${relay}).then(({ relayGuardCall }) => relayGuardCall("claude-code"))`;
  const child = spawn(process.execPath, ["--no-warnings", "-e", ask], {
    cwd: stateDir,
    env: { PWD: stateDir, GENNAI_STATE_DIR: stateDir },
    stdio: ["pipe", "pipe", "pipe"],
  });
  return given(child, input);
}

describe("with a server", () => {
  test("it answers what the gate decided, and nothing where nothing speaks against a call", async () => {
    await using server = await startTestServer({ server: { announce: true }, files: { "a b.txt": "x" } });
    const { root } = server.workspace;
    const asked = (name: string, input: object) => relayed(server.stateDir, root, hookCall(root, name, input));
    expect(await asked("Read", { file_path: "a b.txt" })).toEqual({ code: 0, printed: "", complained: "" });
    const denied = await asked("Write", { file_path: "/etc/x", content: "ä\u2028\u0000😀".repeat(100_000) });
    expect(denied.complained).toBe("");
    expect(JSON.parse(denied.printed)).toMatchObject({ hookSpecificOutput: { permissionDecision: "deny" } });
    const { records } = await server.governance.listLedgerRecords({});
    expect(records).toHaveLength(2);
  });

  test("a project whose name has quotes and letters of all kinds is the one it judges for", async () => {
    await using other = await temporaryDirectory();
    // Ends before its project is taken away.
    await using server = await startTestServer({ server: { announce: true } });
    const root = join(other.root, 'a"b ü');
    mkdirSync(join(root, ".gennai"), { recursive: true });
    writeFileSync(join(root, ".gennai/config.yaml"), 'paths:\n  deny: ["secret/**"]\n');
    const { printed } = await relayed(
      server.stateDir,
      root,
      hookCall(root, "Write", { file_path: "secret/x", content: "" }),
    );
    expect(JSON.parse(printed).hookSpecificOutput.permissionDecision).toBe("deny");
    writeFileSync(join(root, "x.txt"), "x");
    const elsewhere = await relayed(server.stateDir, root, hookCall(root, "Read", { file_path: "x.txt" }));
    expect(elsewhere).toEqual({ code: 0, printed: "", complained: "" });
  });

  test("what is not one call is refused, and in a project that cannot be judged a read as well", async () => {
    await using server = await startTestServer({ server: { announce: true } });
    const { root } = server.workspace;
    const anEndOfItsOwn = '{}}{"a":1';
    const inputs = ["", "{", "[]", '{"a":1},"host":"claude-code","x":{}', anEndOfItsOwn, '{"session_id":"s"}'];
    for (const input of inputs) {
      const { code, printed, complained } = await relayed(server.stateDir, root, input);
      expect([input, code, printed]).toEqual([input, 2, ""]);
      expect(complained).toMatch(
        /^Gennai guards this agent[^\n]*gennai serve[^\n]*guard uninstall claude-code[^\n]*\n$/,
      );
    }
    mkdirSync(join(root, ".gennai"), { recursive: true });
    writeFileSync(join(root, ".gennai/config.yaml"), "paths: [");
    expect((await relayed(server.stateDir, root, hookCall(root, "Read", { file_path: "README.md" }))).code).toBe(2);
  });

  test("another token than the server's is refused, and so is another call", async () => {
    await using server = await startTestServer({ server: { announce: true } });
    const { port, stateDir, workspace } = server;
    const ask = async (path: string, token: string) => {
      const socket = connect(join(stateDir, "servers", `${port}.sock`));
      const lines = [`POST ${path} HTTP/1.0`, "Host: localhost", `Authorization: Bearer ${token}`];
      socket.end([...lines, "Content-Type: application/json", "Content-Length: 2", "", "{}"].join("\r\n"));
      return /^HTTP\/1\.1 (\d+)/.exec(await text(socket))?.[1];
    };
    expect(await ask("/gennai.agent.v1.GovernanceService/GuardCall", "x".repeat(43))).toBe("401");
    expect(await ask("/gennai.agent.v1.GovernanceService/SetEmergencyControl", server.token)).toBe("404");
    expect(await ask("/health", server.token)).toBe("404");
    const record = join(stateDir, "servers", `${port}.json`);
    writeFileSync(record, '{"token": "wrong", "workspace": "/"}');
    const { code, complained } = await relayed(stateDir, workspace.root, hookCall(workspace.root, "Read", {}));
    expect([code, complained]).toEqual([2, expect.stringContaining("Authorization")]);
  });
});

describe("without one", () => {
  const becomes = { code: 0, printed: "became guard claude-code {x", complained: "" };

  test.each([
    ["no state directory", () => undefined],
    ["nobody announced", (state: string) => mkdirSync(join(state, "servers"), { mode: 0o700 })],
    [
      "a server that is gone",
      (state: string) => {
        mkdirSync(join(state, "servers"), { mode: 0o700 });
        writeFileSync(join(state, "servers/7777.json"), '{"token": "t", "workspace": "/"}', { mode: 0o600 });
      },
    ],
  ])("%s: it becomes the program that knows what may go on, with all of the input", async (_what, prepare) => {
    await using state = await temporaryDirectory();
    prepare(state.root);
    expect(await relayed(state.root, state.root, "{x")).toEqual(becomes);
  });

  test.each([
    ["whose directory others can change", 0o777, 0o600],
    ["whose announcement others can read", 0o700, 0o644],
  ])("a server %s is not believed", async (_what, directory, file) => {
    await using state = await temporaryDirectory();
    using _server = await answering(state.root, "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    chmodSync(join(state.root, "servers"), directory);
    chmodSync(join(state.root, "servers/1.json"), file);
    expect(await relayed(state.root, state.root, "{x")).toEqual(becomes);
  });
});

test.each([
  ["nothing", ""],
  ["half of an answer", 'HTTP/1.0 200 OK\r\nContent-Length: 90\r\n\r\n{"answer":{}'],
  ["an answer of unknown length", "HTTP/1.0 200 OK\r\n\r\n{}"],
  ["something else", "HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nnull"],
  ["an error", "HTTP/1.0 500 No\r\nContent-Length: 2\r\n\r\n{}"],
])("a server that answers %s leaves the call refused", async (_what, answer) => {
  await using state = await temporaryDirectory();
  using _server = await answering(state.root, answer);
  const { code, printed, complained } = await relayed(state.root, state.root, "{}");
  expect([code, printed]).toEqual([2, ""]);
  expect(complained).toContain("nothing is changed");
});

describe("a server that stands still keeps nobody longer than a host waits", () => {
  const impatient = relayScript.replace("my $seconds = 20;", "my $seconds = 1;");

  test("one that takes the question, and says nothing", async () => {
    await using state = await temporaryDirectory();
    using _server = await answering(state.root, undefined);
    const { code, complained } = await relayed(state.root, state.root, "{}", {}, impatient);
    expect([code, complained]).toEqual([2, expect.stringContaining("no answer within 1 seconds")]);
  });

  /** One in a process of its own, which is stopped after it listens. */
  async function stoppedAt(socket: string) {
    const listen = `require("net").createServer().listen({ path: ${JSON.stringify(socket)}, backlog: 1 }, () => console.log("up"))`;
    const server = spawn(process.execPath, ["-e", listen], { stdio: ["ignore", "pipe", "inherit"] });
    await once(server.stdout, "data");
    server.kill("SIGSTOP");
    if (process.platform === "linux") {
      // On a busy machine it still runs for a moment.
      const state = () => readFileSync(`/proc/${server.pid}/stat`, "utf8");
      await vi.waitFor(() => expect(state()).toContain(") T "));
    }
    return { pid: server.pid, [Symbol.dispose]: () => void server.kill("SIGKILL") };
  }

  test("one that takes nobody in, with a full line before it", async () => {
    await using state = await temporaryDirectory();
    const socket = announce(state.root);
    using _server = await stoppedAt(socket);
    // Those that wait before us, as hooks did that gave up.
    const waiting = await Promise.all(
      Array.from({ length: 2 }, async () => {
        const one = connect(socket);
        await once(one, "connect");
        return one;
      }),
    );
    const { code, complained } = await relayed(state.root, state.root, "{}", {}, impatient);
    expect([code, complained]).toEqual([2, expect.stringContaining("no answer within 1 seconds")]);
    for (const one of waiting) one.destroy();
  });

  describe.skipIf(process.platform !== "linux")("and one that the system says is stopped keeps nobody at all", () => {
    const relays = {
      perl: (state: string) => relayed(state, state, "{}"),
      node: (state: string) => relayedByNode(state, "{}"),
    };

    test.each(["perl", "node"] as const)("by %s: the call is refused, with what lets it go on", async (by) => {
      await using state = await temporaryDirectory();
      const socket = announce(state.root);
      using server = await stoppedAt(socket);
      announce(state.root, 1, server.pid);
      const { code, printed, complained } = await relays[by](state.root);
      expect([code, printed]).toEqual([2, ""]);
      expect(complained).toContain(`its server is stopped: 'kill -CONT ${server.pid}' lets it go on`);
    });

    test.each(["perl", "node"] as const)("by %s: another one is asked", async (by) => {
      await using state = await temporaryDirectory();
      using _other = await answering(state.root, "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}");
      using server = await stoppedAt(join(state.root, "servers/2.sock"));
      // That of the project comes first.
      announce(state.root, 2, server.pid, state.root);
      expect(await relays[by](state.root)).toEqual({ code: 0, printed: "", complained: "" });
    });

    test("by neither: no client of ours asks it whether it is one", async () => {
      await using server = await startTestServer({ server: { announce: true } });
      const found = async () => {
        const urls: string[] = [];
        for await (const { url } of provenServers(server.stateDir, {})) urls.push(url);
        return urls;
      };
      expect(await found()).toEqual([server.url]);
      using stopped = await stoppedAt(join(server.stateDir, "any.sock"));
      const file = join(server.stateDir, "servers", `${server.port}.json`);
      writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), pid: stopped.pid }));
      expect(await found()).toEqual([]);
    });
  });
});
