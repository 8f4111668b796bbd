import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { allEvents, endState, runTurn, startSession } from "../rpc/session-client.ts";

const secret = ["gh", "p_", "AbC1".repeat(9)].join("");

test("a secret in a file's name is masked in events, the log that clients see and the ledger; the file is changed", async () => {
  const file = `keys/${secret}.txt`;
  await using server = await startTestServer({
    files: { [file]: "one\n", [`d-${secret}/a.txt`]: "x\n" },
    steps: [
      call("LS", { path: "keys" }),
      call("Glob", { pattern: "**/*" }),
      call("Grep", { pattern: "one" }),
      call("Read", { file_path: file }),
      call("Edit", { file_path: file, old_string: "one", new_string: "two" }),
      call("Write", { file_path: `keys/n-${secret}.txt`, content: "x" }),
      { text: ["done"] },
    ],
  });
  const sessionId = await startSession(server);
  expect(endState(await runTurn(server, sessionId, `look at @${file} and @d-${secret}`))).toBe("COMPLETED");
  expect(await server.workspace.read(file)).toBe("two\n");
  await server.client.undoChangeSet({ sessionId });
  expect(await server.workspace.read(file)).toBe("one\n");
  const events = await allEvents(server, sessionId);
  expect(events.map(({ event }) => event.case)).toContain("changeSetUndone");
  expect(JSON.stringify(events, (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value))).not.toContain(
    secret,
  );
  const mirror = await readFile(join(server.workspace.root, ".orchestration/agent_trace.jsonl"), "utf8");
  expect(mirror).toContain("[REDACTED:github].txt");
  expect(mirror).not.toContain(secret);
});
