import { describe, expect, it, test } from "vitest";
import type { Effect } from "#effect";
import { runPolicies } from "#gate/decide/run-policies";
import { runEventHooks } from "#hooks/event-hooks";
import { type HookRun, hookVerdict, nameOf } from "#hooks/hook-answer";
import { type HookEvent, matchesHook, parseHooks } from "#hooks/hook-config";
import { createBrokenHooksPolicy, createHookPolicies, type HookInput } from "#hooks/hooks-policy";
import type { Policy } from "#policy";
import { allow } from "#verdict";
import { inputWith, inside, summary, write } from "../policies/effects.ts";

const [hook] = parseHooks(
  '{"hooks":{"PreToolUse":[{"matcher":"","hooks":[{"type":"command","command":"A=1 /opt/check.sh --token x"}]}]}}',
  "hooks.json",
);
if (hook === undefined) throw new Error("no hook");

const ran = (more: Partial<HookRun>): HookRun => ({ exitCode: 0, stdout: "", stderr: "", ...more });
const denied = "deny hook_denied";
const specific = (permissionDecision: string, more: Readonly<Record<string, unknown>>) => ({
  hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision, ...more },
});
const decision = (permissionDecision: string): string =>
  JSON.stringify(specific(permissionDecision, { permissionDecisionReason: "Because." }));

describe("what a hook says", () => {
  const rows: readonly (readonly [string, Partial<HookRun>, string])[] = [
    ["exit 0, silent", {}, "allow"],
    ["allow is not an opinion", { stdout: decision("allow") }, "allow"],
    ["ask", { stdout: decision("ask") }, "ask hook_asks"],
    ["deny", { stdout: decision("deny") }, "deny hook_denied"],
    ["the older block", { stdout: '{"decision":"block","reason":"x"}' }, "deny hook_denied"],
    ["the older approve", { stdout: '{"decision":"approve"}' }, "allow"],
    ["continue false", { stdout: '{"continue":false,"stopReason":"x"}' }, "deny hook_denied"],
    ["exit 2 blocks, whatever it prints", { exitCode: 2, stderr: "no", stdout: decision("allow") }, "deny hook_denied"],
    ["exit 1", { exitCode: 1 }, "failure"],
    ["exit 127", { exitCode: 127 }, "failure"],
    ["killed", { exitCode: undefined, failure: "it was killed by SIGKILL" }, "failure"],
    ["killed after it printed allow", { failure: "it timed out", stdout: decision("allow") }, "failure"],
    ["garbage", { stdout: "fine by me" }, "failure"],
    ["half a JSON", { stdout: '{"decision":' }, "failure"],
    ["an unknown decision", { stdout: decision("maybe") }, "failure"],
    ["a decision of another type", { stdout: '{"decision":true}' }, "failure"],
    ["an array", { stdout: "[]" }, "failure"],
    [
      "a reason that is null",
      { stdout: JSON.stringify(specific("allow", { permissionDecisionReason: null })) },
      "allow",
    ],
    ["continue true", { stdout: '{"continue":true,"suppressOutput":true}' }, "allow"],
    ["a deferred call waits for a person", { stdout: decision("defer") }, "ask hook_asks"],
    ["other arguments", { stdout: JSON.stringify(specific("allow", { updatedInput: { command: "id" } })) }, "allow"],
    ["other arguments, undecided", { stdout: '{"hookSpecificOutput":{"updatedInput":{"command":"id"}}}' }, "allow"],
    ["other arguments, asked", { stdout: JSON.stringify(specific("ask", { updatedInput: {} })) }, "ask hook_asks"],
    ["other arguments, denied", { stdout: JSON.stringify(specific("deny", { updatedInput: {} })) }, denied],
    [
      "other arguments that are no map",
      { stdout: JSON.stringify(specific("allow", { updatedInput: "id" })) },
      "failure",
    ],
    ["a flat deny", { stdout: '{"permissionDecision":"deny"}' }, denied],
    [
      "the strictest of two",
      { stdout: '{"decision":"block","hookSpecificOutput":{"permissionDecision":"allow"}}' },
      denied,
    ],
    ["deny in another agent's words", { stdout: '{"permission":"deny","user_message":"no"}' }, denied],
    ["cancel", { stdout: '{"cancel":true,"errorMessage":"no"}' }, denied],
    ["a deny beside what is not known", { stdout: '{"decision":"deny","because":"x"}' }, denied],
    ["allow beside what is not known", { stdout: '{"decision":"allow","behavior":"deny"}' }, "failure"],
    [
      "allow beside what is not known, within",
      { stdout: JSON.stringify(specific("allow", { veto: true })) },
      "failure",
    ],
    ["another event's answer", { stdout: JSON.stringify(specific("allow", { hookEventName: "Stop" })) }, "failure"],
    ["an unknown word", { stdout: '{"verdict":"no"}' }, "failure"],
    ["no decision", { stdout: "{}" }, "failure"],
    ["a decision that is null", { stdout: '{"decision":null}' }, "failure"],
    ["only words", { stdout: '{"systemMessage":"I looked."}' }, "failure"],
  ];
  it.each(rows)("%s", (_name, run, wanted) => {
    const said = (): string => summary(hookVerdict(hook, ran(run)));
    if (wanted === "failure") expect(said).toThrow();
    else expect(said()).toBe(wanted);
  });

  it("hands its reason on, under its own name and without its words", () => {
    expect(nameOf(hook)).toBe("check.sh");
    expect(hookVerdict(hook, ran({ exitCode: 2, stderr: "not on a Friday\n" }))).toMatchObject({
      finding: { rule: "hook/check.sh", reason: expect.stringContaining("not on a Friday") },
    });
  });

  it("says which arguments it wants", () => {
    const stdout = JSON.stringify(specific("ask", { updatedInput: { command: "ls -a" } }));
    expect(hookVerdict(hook, ran({ stdout }))).toMatchObject({ type: "ask", wanted: { command: "ls -a" } });
  });
});

test.each([
  [undefined, "Bash", true],
  ["", "Bash", true],
  ["*", "Bash", true],
  ["Bash", "Bash", true],
  ["Bash", "BashOutput", false],
  ["Edit|Write", "Write", true],
  ["Edit | Write", "Write", true],
  ["mcp__.*", "mcp__a__b", true],
  ["mcp__*__write", "mcp__a__write", true],
  ["mcp__*__write", "mcp__write", false],
  ["Notebook.*", "Bash", false],
] as const)("the matcher %s and %s: %s", (matcher, tool, wanted) => {
  expect(matchesHook(matcher, [tool])).toBe(wanted);
});

describe("an event", () => {
  const tell = (event: HookEvent, run: Partial<HookRun>, names?: readonly string[]) =>
    runEventHooks(
      parseHooks(
        JSON.stringify({ hooks: { [event]: [{ matcher: "one", hooks: [{ type: "command", command: "h" }] }] } }),
        "f",
      ),
      { event, input: {}, ...(names === undefined ? {} : { names }) },
      { runner: { run: async () => ran(run) }, cwd: "/ws", sessionId: "s", signal: new AbortController().signal },
    );
  const silent = { notes: [], messages: [] };
  const note = (words: string) => [`The user's hook h says: ${words}`];
  const failure = "The hook h failed: it ended with exit code 1: ";
  const block = JSON.stringify({ decision: "block", reason: "no" });
  const context = (hookEventName: string) =>
    JSON.stringify({ hookSpecificOutput: { hookEventName, additionalContext: "it rains" }, systemMessage: "hello" });

  it.each([
    // What decides, refuses, and refuses where it fails.
    ["UserPromptSubmit", { exitCode: 2, stderr: "no" }, { ...silent, refusal: "h: no" }],
    ["UserPromptSubmit", { exitCode: 1 }, { ...silent, refusal: failure, failed: true }],
    [
      "UserPromptSubmit",
      { stdout: '{"verdict":"no"}' },
      { ...silent, refusal: expect.stringContaining("unknown field"), failed: true },
    ],
    ["UserPromptSubmit", { stdout: "it rains" }, { ...silent, notes: note("it rains") }],
    ["UserPromptSubmit", { stdout: context("UserPromptSubmit") }, { notes: note("it rains"), messages: ["h: hello"] }],
    ["Stop", { stdout: block }, { ...silent, refusal: "h: no" }],
    [
      "Stop",
      { stdout: '{"continue":false}' },
      { ...silent, refusal: "h: it asked to stop.", stop: "h: it asked to stop." },
    ],
    ["Stop", { stdout: "done" }, silent],
    ["Stop", { stdout: "{" }, { ...silent, refusal: expect.stringContaining("not JSON"), failed: true }],
    ["SubagentStop", { exitCode: 1 }, { ...silent, refusal: failure, failed: true }],
    ["PreCompact", { exitCode: 2 }, { ...silent, refusal: "h: it gave no reason." }],
    // What only looks, comments.
    ["SessionStart", { stdout: "it rains" }, { ...silent, notes: note("it rains") }],
    ["SessionStart", { exitCode: 1 }, { ...silent, messages: [failure] }],
    ["PostToolUse", { exitCode: 2, stderr: "format it" }, { notes: note("format it"), messages: ["h: format it"] }],
    ["PostToolUse", { stdout: "formatted" }, silent],
    [
      "PostToolUseFailure",
      { stdout: context("PostToolUseFailure") },
      { notes: note("it rains"), messages: ["h: hello"] },
    ],
    ["PermissionDenied", { stdout: block }, { notes: note("no"), messages: ["h: no"] }],
    ["Notification", { exitCode: 1 }, { ...silent, messages: [failure] }],
    ["SessionEnd", {}, silent],
  ] as const)("%s %j", async (event, run, wanted) => {
    expect(await tell(event, run)).toEqual(wanted);
  });

  it("is told to the programs of its kind; a matcher of a prompt's or a turn's end means nothing", async () => {
    expect(await tell("PreCompact", { exitCode: 2 }, ["two"])).toEqual(silent);
    expect(await tell("PreCompact", { exitCode: 2 }, ["one"])).not.toEqual(silent);
    expect(await tell("Stop", { exitCode: 2 }, ["two"])).not.toEqual(silent);
  });
});

test.each([
  ["not JSON", "{"],
  ["no hooks", "{}"],
  ["an unknown type", '{"hooks":{"PreToolUse":[{"hooks":[{"type":"prompt","prompt":"x"}]}]}}'],
  ["no command", '{"hooks":{"PreToolUse":[{"hooks":[{"type":"command"}]}]}}'],
  [
    "a field that changes what runs",
    '{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"node","args":["check.js"]}]}]}}',
  ],
  ["a matcher that would never match", '{"hooks":{"PreToolUse":[{"matcher":"^Bash$","hooks":[]}]}}'],
])("a hooks file with %s is refused by name", (_name, text) => {
  expect(() => parseHooks(text, "hooks.json")).toThrow(/hooks\.json/);
});

test("onFailure stands only where a failure can block", () => {
  const text = (event: string) =>
    `{"hooks":{"${event}":[{"hooks":[{"type":"command","command":"node","onFailure":"block"}]}]}}`;
  expect(parseHooks(text("Stop"), "hooks.json")).toHaveLength(1);
  expect(() => parseHooks(text("PostToolUse"), "hooks.json")).toThrow(
    /^hooks\.json: hooks\.PostToolUse\.0\.hooks\.0: leave out onFailure: /,
  );
});

describe("hooks as policies", () => {
  const allowing: Policy = { name: "ours", kind: "guard", decide: () => allow };

  async function verdictOf(hooks: readonly Policy[], effect: Effect, toolName = "Bash") {
    const access = effect.type === "read" ? "read" : "change";
    const { verdict, warnings } = await runPolicies(
      [allowing, ...hooks],
      inputWith({
        callId: "call-1",
        toolName,
        args: { command: "ls" },
        access,
        analysis: { statement: "", effects: [effect] },
        sessionId: "session-1",
      }),
      { timeoutMs: 100, signal: new AbortController().signal },
    );
    return { verdict: summary(verdict), warnings: warnings.length };
  }

  const policiesOf = (run: HookRun, seen: HookInput[] = [], matcher?: string) =>
    createHookPolicies([{ ...hook, matcher }], {
      cwd: "/ws",
      runner: {
        run: async (_hook, input) => {
          seen.push(input);
          return run;
        },
      },
    });

  it("tells the program what Claude Code tells it", async () => {
    const seen: HookInput[] = [];
    await verdictOf(policiesOf(ran({}), seen), write(inside("a")));
    expect(seen).toEqual([
      {
        session_id: "session-1",
        cwd: "/ws",
        hook_event_name: "PreToolUse",
        tool_name: "Bash",
        tool_input: { command: "ls" },
        tool_use_id: "call-1",
      },
    ]);
  });

  it("does not run for another tool", async () => {
    const seen: HookInput[] = [];
    expect(await verdictOf(policiesOf(ran({ exitCode: 2 }), seen, "Write"), write(inside("a")))).toMatchObject({
      verdict: "allow",
    });
    expect(seen).toEqual([]);
  });

  it("fails closed for a change, and with a warning for a read", async () => {
    for (const policies of [policiesOf(ran({ exitCode: 1 })), [createBrokenHooksPolicy("hooks.json: is not JSON")]]) {
      expect(await verdictOf(policies, write(inside("a")))).toEqual({ verdict: "deny hook_failed", warnings: 0 });
      expect(await verdictOf(policies, { type: "read", path: inside("a") })).toEqual({ verdict: "allow", warnings: 1 });
    }
    expect(await verdictOf(policiesOf(ran({ exitCode: 2 })), { type: "read", path: inside("a") })).toEqual({
      verdict: "deny hook_denied",
      warnings: 0,
    });
  });
});
