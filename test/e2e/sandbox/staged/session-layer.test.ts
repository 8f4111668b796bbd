import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";
import { eventOf, eventsOf, runTurn, startSession } from "../../rpc/session-client.ts";

type Call = readonly [tool: string, args: Readonly<Record<string, unknown>>];

/** A server that stages commands; each turn makes one call. */
function staging(calls: readonly Call[]): Promise<TestServer> {
  return startTestServer({
    files: { ".gitignore": "node_modules\ndist\n*.private\n", "src/a.ts": "1\n" },
    script: calls.map(([name, args]) => ({ steps: [call(name, args), { text: ["Done."] }] })),
    server: { commands: "staged" },
  });
}

function bash(command: string): Call {
  return ["Bash", { command }];
}

async function turn(server: TestServer, sessionId: string) {
  const events = await runTurn(server, sessionId, "go");
  expect(eventsOf(events, "confirmationRequest")).toEqual([]);
  const { output, error } = eventOf(events, "toolResult");
  return `${error}${output}`;
}

describe("what git ignores stays with the session", () => {
  test("later commands see what a build made, the workspace does not have it, and the model is told", async () => {
    await using server = await staging([
      bash(
        "mkdir -p dist node_modules/x && echo built > dist/a.js && echo 1 > node_modules/x/i.js && echo 2 > src/a.ts",
      ),
      bash("cat dist/a.js && ls node_modules && git status --porcelain"),
      ["Read", { file_path: "dist/a.js" }],
    ]);
    const session = await startSession(server);
    const first = await turn(server, session);
    expect(first).toContain("git ignores dist, node_modules");
    expect(first).toContain("gennai stage keep dist");
    expect(await server.workspace.read("src/a.ts")).toBe("2\n");
    for (const path of ["dist", "node_modules"]) expect(existsSync(server.workspace.path(path)), path).toBe(false);
    expect(await turn(server, session)).toContain("built\nx\n M src/a.ts\n");
    expect(await turn(server, session)).toMatch(/Bash \(cat dist\/a\.js\)/);
  });

  test("another session does not see it", async () => {
    await using server = await staging([bash("[ -e dist ] && echo SEEN; mkdir -p dist && echo 1 > dist/a.js")]);
    await turn(server, await startSession(server));
    expect(await turn(server, await startSession(server))).not.toContain("SEEN");
  });

  test("what is refused leaves nothing in it either", async () => {
    await using server = await staging([
      bash("mkdir dist && echo 1 > dist/a.js && echo evil > AGENTS.md"),
      bash("ls -A"),
    ]);
    const session = await startSession(server);
    const events = await runTurn(server, session, "go");
    expect(eventOf(events, "toolResult").output).toContain("nothing it changed was kept");
    expect(await turn(server, session)).not.toContain("dist");
  });

  test("an ignored file of the user's stays, whatever commands make of it, and is the user's again when the user writes it", async () => {
    await using server = await staging([
      bash("rm notes.private; echo 1 > b.private"),
      bash("ls *.private"),
      bash("cat notes.private"),
    ]);
    writeFileSync(server.workspace.path("notes.private"), "mine");
    const session = await startSession(server);
    await turn(server, session);
    expect(await server.workspace.read("notes.private")).toBe("mine");
    expect(await turn(server, session)).toContain("b.private\n");
    writeFileSync(server.workspace.path("notes.private"), "mine again");
    const third = await turn(server, session);
    expect(third).toContain("mine again");
    expect(third).toContain("the workspace's own notes.private changed");
    expect(readdirSync(join(server.stateDir, "layers"))).toHaveLength(1);
  });
});
