import { readFile } from "node:fs/promises";
import { readLedgerRecords } from "@gennai/store/audit/ledger-records";
import { expect, test } from "vitest";
import { endState, eventsOf, runTurn, startSession } from "../../e2e/rpc/session-client.ts";
import { call, type WireWorld, wireWorld } from "../wire-world.ts";

const file = "export function a() {\n\treturn “one”;\n}\n";
const files = { "a.ts": file };

/** The results of calls behind a Read of the file, and the ledger. */
async function calls(
  world: WireWorld,
): Promise<{ results: { error: string; output: string }[]; now: string; ledger: readonly string[] }> {
  const { server } = world;
  const events = await runTurn(server, await startSession(server), "go");
  expect(endState(events)).toBe("COMPLETED");
  const ledger = readLedgerRecords(server.stateDir, server.workspace.root, 0, 100).map(({ json }) => json);
  return {
    results: eventsOf(events, "toolResult").slice(1),
    now: await readFile(server.workspace.path("a.ts"), "utf8"),
    ledger,
  };
}

const read = { calls: [call("r", "Read", { file_path: "a.ts" })] };
const done = { text: ["Done."] };
const nearly = { file_path: "a.ts", old_string: '    return "one";\n', new_string: '    return "two";\n' };

test("an edit that nearly fits is made, told and recorded in the file's words, and as it was called", async () => {
  await using world = await wireWorld("openai-compatible", [read, { calls: [call("e", "Edit", nearly)] }, done], {
    files,
  });
  const { results, now, ledger } = await calls(world);
  expect(results.map(({ error }) => error)).toEqual([""]);
  expect(now).toBe(file.replace("one", "two"));
  const said = JSON.stringify(world.provider.requests.at(-1)?.body);
  expect(said).toContain("old_string fits line 2 but for indentation and characters that look alike");
  const record = ledger.find((line) => line.includes('"as_called"')) ?? "";
  const asCalled = /"as_called":\{[^}]*\}/.exec(record)?.[0] ?? "";
  // What was really replaced, and beside it what the model said.
  expect(record.replace(asCalled, "")).toContain("return “one”");
  expect(asCalled).toContain("return");
  expect(asCalled).not.toContain("“one”");
});

test.each([
  ["two places", { file_path: "a.ts", old_string: "  x\n", new_string: "  y\n" }, "fits at 2 places (lines 1, 3)"],
  ["every place", { ...nearly, replace_all: true }, "old_string is not in a.ts"],
])("refuses what fits at %s, and changes nothing", async (_name, args, want) => {
  const text = "\tx\n\treturn “one”;\n\tx\n";
  await using world = await wireWorld("openai-compatible", [read, { calls: [call("e", "Edit", args)] }, done], {
    files: { "a.ts": text },
  });
  const { results, now } = await calls(world);
  expect(results[0]?.output).toContain(want);
  expect(now).toBe(text);
});
