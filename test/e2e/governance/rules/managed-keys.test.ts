import { existsSync } from "node:fs";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServerOptions } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { eventsOf, runTurn, startSession, Watcher } from "../../rpc/session-client.ts";

const directory = "/etc/gennai";

/** A server under a policy of root that says this beside its name. */
function managedServer(keys: string, options: TestServerOptions = {}) {
  const text = `gennai_policy: 1\nname: acme\ncontact: sec@acme.example\n${keys}\n...\n`;
  return startTestServer({
    ...options,
    server: {
      ...options.server,
      policyFiles: {
        directory,
        list: (at) => (at === directory ? ["policy.yaml"] : []),
        read: async () => text,
      },
    },
  });
}

const write = (path: string) => call("Write", { file_path: path, content: "new\n" });
const hook = "{ matcher: Write, hooks: [{ type: command, command: 'echo not here >&2; exit 2' }] }";

test.each<[string, string, TestServerOptions["steps"] & object, RegExp]>([
  [
    "a rule protects paths",
    "rules: { readOnlyPaths: [a.txt] }",
    [write("a.txt")],
    /a\.txt is read-only .* Policy: acme\. Questions: sec@acme\.example\./,
  ],
  ["a hook runs", `hooks: { PreToolUse: [${hook}] }`, [write("a.txt")], /not here/],
  [
    "a host is not listed",
    "network: { allow: [a.example:443], ask: false }",
    [call("WebFetch", { url: "https://b.example/" })],
    /b\.example|not known|no tool/,
  ],
])("%s", async (_what, keys, steps, refused) => {
  await using server = await managedServer(keys, { steps: [...steps, { text: ["Over."] }] });
  const events = await runTurn(server, await startSession(server), "do it");
  expect(eventsOf(events, "toolResult")).toMatchObject([{ error: expect.stringMatching(refused) }]);
  expect(existsSync(server.workspace.path("a.txt"))).toBe(false);
});

test("the agent writes on no branch that is protected", async () => {
  await using server = await managedServer("protected_branches: [work]", {
    steps: [write("a.txt"), { text: ["Over."] }],
  });
  await runTurn(server, await startSession(server), "do it");
  expect(await server.workspace.git("log", "--format=%s", "work", "--", "a.txt")).toBe("");
  const head = await server.workspace.git("branch", "--show-current");
  expect(head.trim() !== "work" || !existsSync(server.workspace.path("a.txt"))).toBe(true);
});

test("a yes lasts no longer than a policy lets it", async () => {
  await using server = await managedServer("answers: { longest: once }", {
    steps: [call("Write", { file_path: "package.json", content: "{}\n" }), { text: ["Over."] }],
  });
  await using person = await Watcher.begin(server);
  const question = await person.next("confirmationRequest");
  expect(question.offeredScopes).toHaveLength(1);
  expect(question.patterns).toEqual([]);
  await person.answer(question);
  expect(await person.end()).toBe("COMPLETED");
});
