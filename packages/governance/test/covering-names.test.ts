import { noEmergency } from "@gennai/protocol/model/governance/emergency";
import { expect, test } from "vitest";
import { coveringNames } from "#covering-names";
import type { Effect } from "#effect";
import { parseHooks } from "#hooks/hook-config";
import { createHookPolicies, type HookInput } from "#hooks/hooks-policy";
import { switchesLimit } from "#limits/limits";
import { createLimitsPolicy } from "#limits/limits-policy";
import { inputWith, inside, summary, write } from "./policies/effects.ts";

const edits = [write(inside("a")), write(inside("src/b"))];
const deletes = [write(inside("a"), { operation: "delete" })];

test.each<[string, readonly Effect[], readonly string[]]>([
  ["Edit", edits, ["Edit"]],
  ["Write", deletes, ["Write"]],
  ["MultiEdit", edits, ["MultiEdit", "Edit"]],
  ["NotebookEdit", edits, ["NotebookEdit", "Edit"]],
  ["apply_patch", edits, ["apply_patch", "Edit", "Write"]],
  ["apply_patch", deletes, ["apply_patch", "Edit", "Write", "Delete", "Move"]],
  ["RunInTerminal", [], ["RunInTerminal", "Bash", "Terminal"]],
])("what was decided about others holds for %s", (tool, effects, names) => {
  expect(coveringNames(tool, effects)).toEqual(names);
});

function call(toolName: string, args: object, effects: readonly Effect[]) {
  const analysis = { statement: "", effects };
  return inputWith({ toolName, args, analysis });
}

const { signal } = new AbortController();

test.each([
  ["edit", "apply_patch", edits, "deny tool_blocked"],
  ["write", "apply_patch", edits, "deny tool_blocked"],
  ["delete", "apply_patch", edits, "allow"],
  ["delete", "apply_patch", deletes, "deny tool_blocked"],
  ["edit", "NotebookEdit", edits, "deny tool_blocked"],
  ["write", "NotebookEdit", edits, "allow"],
  ["bash", "RunInTerminal", [], "deny tool_blocked"],
] as const)("while %s is blocked, %s of these effects: %#", async (blocked, tool, effects, wanted) => {
  const policy = createLimitsPolicy({ current: () => [switchesLimit({ ...noEmergency, blockedTools: [blocked] })] });
  expect(summary(await policy.decide(call(tool, {}, effects), { signal }))).toBe(wanted);
});

test("a hook for Edit and Write is asked about each file of a patch, and one refusal counts", async () => {
  const text = '{"hooks":{"PreToolUse":[{"matcher":"Edit|Write","hooks":[{"type":"command","command":"guard"}]}]}}';
  const asked: HookInput[] = [];
  const [policy] = createHookPolicies(parseHooks(text, "hooks.json"), {
    cwd: "/w",
    runner: {
      async run(_hook, input) {
        asked.push(input);
        const isFirst = asked.length === 1;
        return { exitCode: isFirst ? 2 : 0, stdout: "", stderr: isFirst ? "not this one" : "" };
      },
    },
  });
  const verdict = await policy?.decide(call("apply_patch", { input: "*** Begin Patch" }, edits), { signal });
  expect(asked.map(({ tool_name, tool_input }) => [tool_name, tool_input])).toEqual(
    edits.map(({ path }) => ["apply_patch", { input: "*** Begin Patch", file_path: path.absolute }]),
  );
  expect(verdict === undefined ? "none" : summary(verdict)).toBe("deny hook_denied");
});
