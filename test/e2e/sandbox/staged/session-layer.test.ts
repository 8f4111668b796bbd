import { existsSync } from "node:fs";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { eventOf, eventsOf, runTurn, startSession } from "../../rpc/session-client.ts";
import { bash, type Call } from "../background-calls.ts";

/** A server that stages commands; each turn makes one call. */
function staging(calls: readonly Call[]): Promise<TestServer> {
  return startTestServer({
    files: { ".gitignore": "node_modules\ndist\n*.private\n", "src/a.ts": "1\n" },
    script: calls.map(([name, args]) => ({ steps: [call(name, args), { text: ["Done."] }] })),
    server: { commands: "staged" },
  });
}

async function turn(server: TestServer, sessionId: string) {
  const events = await runTurn(server, sessionId, "go");
  expect(eventsOf(events, "confirmationRequest")).toEqual([]);
  const { output, error } = eventOf(events, "toolResult");
  return `${error}${output}`;
}

test("what git ignores stays with the session: later commands see what a build made, the workspace does not have it, and the model is told", async () => {
  await using server = await staging([
    bash("mkdir -p dist node_modules/x && echo built > dist/a.js && echo 1 > node_modules/x/i.js && echo 2 > src/a.ts"),
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
