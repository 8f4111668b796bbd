import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import * as z from "zod";
import { recordsInShort } from "./guarded-records.ts";

const answerSchema = z.object({
  hookSpecificOutput: z.object({ permissionDecision: z.literal("deny"), permissionDecisionReason: z.string() }),
});

async function guarded() {
  const files = { "src/a.ts": "one\n", "src/b.ts": "two\n", ".gennai/config.yaml": 'paths:\n  deny: ["docs/**"]\n' };
  const server = await startTestServer({ files });
  const { governance } = server;
  const { root } = server.workspace;
  let calls = 0;
  const tell = async (hook_event_name: string, tool_name: string, tool_input: object, id: string) => {
    const more = { cwd: root, tool_name, tool_input: { ...tool_input }, tool_use_id: id };
    const payload = { session_id: "s", hook_event_name, ...more };
    return (await governance.guardCall({ host: "codex", workingDir: root, payload })).answer;
  };
  return {
    root,
    server,
    tell,
    /** Why it is refused; undefined where it goes on. */
    async wants(name: string, input: object): Promise<{ id: string; refusal: string | undefined }> {
      const id = `c${++calls}`;
      const answer = await tell("PreToolUse", name, input, id);
      const { hookSpecificOutput } = answerSchema.safeParse(answer).data ?? {};
      if (answer !== undefined && hookSpecificOutput === undefined) throw new Error(JSON.stringify(answer));
      return { id, refusal: hookSpecificOutput?.permissionDecisionReason };
    },
    records: () => recordsInShort(governance),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const patch = (...lines: readonly string[]) => ({ command: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n") });

test("a patch of several files is judged for each of them, and each is looked at afterwards", async () => {
  await using agent = await guarded();
  const input = patch(
    "*** Update File: src/a.ts",
    "@@",
    "-one",
    "+1",
    "*** Delete File: src/b.ts",
    "*** Add File: n.txt",
    "+n",
  );
  const { id, refusal } = await agent.wants("apply_patch", input);
  expect(refusal).toBeUndefined();
  writeFileSync(join(agent.root, "src/a.ts"), "1\n");
  writeFileSync(join(agent.root, "n.txt"), "n\n");
  rmSync(join(agent.root, "src/b.ts"));
  await agent.tell("PostToolUse", "apply_patch", input, id);
  expect(await agent.records()).toEqual([
    "codex, intent, Patch allow",
    "codex, outcome, Patch allow verified, update src/a.ts, delete src/b.ts, create n.txt",
  ]);
});

test.each([
  [
    "one file of it out of scope",
    patch("*** Update File: src/a.ts", "@@", "+x", "*** Add File: docs/x", "+x"),
    "deny list",
  ],
  ["outside", patch("*** Add File: ../x", "+x"), "outside"],
  ["its own hook", patch("*** Delete File: .codex/hooks.json"), "configuration"],
  ["moved out of the workspace", patch("*** Update File: src/a.ts", "*** Move to: /tmp/x"), "outside"],
  ["a name that may mean two places", patch("*** Add File: src/x "), "a dot or a space"],
])("a patch is refused as a whole: %s", async (_what, input, reason) => {
  await using agent = await guarded();
  expect((await agent.wants("apply_patch", input)).refusal).toContain(reason);
  expect(await agent.records()).toEqual([expect.stringMatching(/^codex, refusal, Patch deny\b/)]);
  expect(readFileSync(join(agent.root, "src/a.ts"), "utf8")).toBe("one\n");
});

test("what would be asked about is refused, for Codex cannot ask; what is proven to read goes on", async () => {
  await using agent = await guarded();
  expect((await agent.wants("Bash", { command: "cat src/a.ts" })).refusal).toBeUndefined();
  expect((await agent.wants("Bash", { command: "touch made" })).refusal).toContain("nobody can be asked");
  expect((await agent.wants("mcp__files__write", { path: "x" })).refusal).toContain("nobody can be asked");
  expect((await agent.wants("view_image", { path: "/etc/passwd" })).refusal).toContain("outside");
});
