import { Verbosity } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { startTestServer } from "@gennai/testkit/test-server";
import fc from "fast-check";
import { expect, test } from "vitest";
import { startSession } from "../../rpc/session-client.ts";

const words = [
  "rm",
  "-rf",
  "git",
  "push",
  "--force",
  "npm",
  "test",
  "cat",
  "README.md",
  ".env",
  "../x",
  "|",
  "sudo",
  "$X",
  ">",
];
const path = fc.constantFrom(
  "README.md",
  "new.txt",
  ".env",
  ".git/hooks/x",
  "../outside",
  ".github/workflows/ci.yml",
  "a b",
);
const call = fc.oneof(
  fc
    .array(fc.constantFrom(...words), { minLength: 1, maxLength: 6 })
    .map((list) => ["Bash", { command: list.join(" ") }] as const),
  path.map((file) => ["Read", { file_path: file }] as const),
  fc.tuple(path, fc.string()).map(([file, content]) => ["Write", { file_path: file, content }] as const),
  path.map((file) => ["Delete", { file_path: file }] as const),
  fc.record({ pattern: fc.constantFrom("a", "TOKEN") }).map((args) => ["Grep", args] as const),
);

test("seed 003 §2.5: how much the agent writes changes no verdict, whatever the call", async () => {
  await using server = await startTestServer();
  const { governance } = server;
  const levels = [Verbosity.TERSE, Verbosity.NORMAL, Verbosity.DETAILED];
  const sessions = await Promise.all(levels.map((verbosity) => startSession(server, { settings: { verbosity } })));
  const seen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(call, async ([tool, args]) => {
      const request = { tool, argumentsJson: JSON.stringify(args) };
      const [first, ...others] = await Promise.all(
        sessions.map((sessionId) => governance.checkPolicy({ sessionId, ...request })),
      );
      seen.add(first?.verdict ?? 0);
      for (const other of others) expect(other).toEqual(first);
    }),
    { numRuns: 60 },
  );
  // The calls were not all of one kind.
  expect(seen.size).toBe(3);
});

test("seed 003 §2.5: it changes the prompt by its own section and nothing else", async () => {
  await using server = await startTestServer();
  const { governance } = server;
  const promptWith = async (verbosity: Verbosity): Promise<readonly string[]> => {
    const sessionId = await startSession(server, { settings: { verbosity } });
    expect((await server.client.resumeSession({ sessionId })).settings?.verbosity).toBe(verbosity);
    return (await governance.previewSystemPrompt({ sessionId })).prompt.split("\n\n");
  };
  const normal = await promptWith(Verbosity.NORMAL);
  for (const verbosity of [Verbosity.TERSE, Verbosity.DETAILED]) {
    const sections = await promptWith(verbosity);
    expect(sections.filter((section) => !section.startsWith("# Tone\n"))).toEqual(normal);
    expect(sections).toHaveLength(normal.length + 1);
  }
});
