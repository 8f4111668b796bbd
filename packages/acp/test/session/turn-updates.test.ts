import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { InvokeEventSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { expect, test } from "vitest";
import { TurnUpdates } from "#session/turn-updates";

type EventInit = MessageInitShape<typeof InvokeEventSchema>;

const texts: Readonly<Record<string, string>> = { before: "one\n", after: "two\n" };

async function told(events: readonly EventInit[], withPrompts = false) {
  const updates = new TurnUpdates({ workingDir: "/w", withPrompts, textOf: async (sha256) => texts[sha256] });
  const all = [];
  for (const [index, event] of events.entries()) {
    all.push(...(await updates.of(create(InvokeEventSchema, { seq: BigInt(index + 1), ...event }))));
  }
  return all;
}

const call = (id: string, name = "Edit", argumentsJson = '{"file_path":"a.txt"}'): EventInit => ({
  event: { case: "toolCall", value: { id, name, argumentsJson } },
});

test.each<[string, EventInit[], unknown[]]>([
  [
    "thoughts",
    [{ event: { case: "thinkingDelta", value: { text: "Hm" } } }],
    [{ sessionUpdate: "agent_thought_chunk" }],
  ],
  ["text", [{ event: { case: "assistantDelta", value: { text: "Hi" } } }], [{ content: { type: "text", text: "Hi" } }]],
  ["nothing of a sub-agent", [{ ...call("c"), parentToolCallId: "p" }], []],
  ["no prompt that was just typed", [{ event: { case: "userMessage", value: { text: "go" } } }], []],
  [
    "what the session tells besides, and nothing of what was just set here",
    [
      { event: { case: "settingsChanged", value: { summary: "branch mode" } } },
      { event: { case: "emergencyChanged", value: { control: 1, enabled: true, by: "ann" } } },
    ],
    [{ content: { type: "text", text: "Read-only was switched on by ann.\n\n" } }],
  ],
  ["a call without a start", [call("c")], [{ sessionUpdate: "tool_call", title: "Edit a.txt", status: "pending" }]],
  [
    "a result",
    [call("c"), { event: { case: "toolResult", value: { id: "c", output: "x\u202e", error: "" } } }],
    [{ sessionUpdate: "tool_call" }, { status: "completed", content: [{ content: { text: "~~~\nx\\u{202e}\n~~~" } }] }],
  ],
  [
    "a failure",
    [{ event: { case: "toolResult", value: { id: "c", output: "", error: "no" } } }],
    [{ status: "failed", toolCallId: "c" }],
  ],
  [
    "a refusal in sentences for people",
    [
      {
        event: {
          case: "toolResult",
          value: {
            id: "c",
            error: "This call needs a person's yes and nobody can be asked, so it did not run.",
            output: JSON.stringify({
              error: {
                code: "nobody_to_ask",
                message: "This call needs a person's yes and nobody can be asked, so it did not run.",
                hint: "Do not repeat this call; choose another way or ask the user.",
              },
            }),
          },
        },
      },
    ],
    [
      {
        status: "failed",
        content: [
          {
            content: {
              text: "~~~\nThis call needs a person's yes and nobody can be asked, so it did not run.\nRun it at a terminal, with `--ask`, or with `--yes`.\n~~~",
            },
          },
        ],
      },
    ],
  ],
  [
    "a change as a diff",
    [
      call("c"),
      {
        event: {
          case: "changeSetApplied",
          value: { toolCallId: "c", files: [{ path: "a.txt", beforeSha256: "before", afterSha256: "after" }] },
        },
      },
    ],
    [{}, { content: [{ type: "diff", path: "/w/a.txt", oldText: "one\n", newText: "two\n" }] }],
  ],
  [
    "a change whose text is not kept, by its name",
    [
      call("c"),
      {
        event: {
          case: "changeSetApplied",
          value: { toolCallId: "c", files: [{ path: "a\u202e.txt", beforeSha256: "gone", afterSha256: "after" }] },
        },
      },
    ],
    [{}, { content: [{ type: "content", content: { text: "Changed `a\\u{202e}.txt`." } }], locations: [] }],
  ],
  [
    "what a person did, as no call's",
    [{ event: { case: "changeSetApplied", value: { toolCallId: "", files: [{ path: "a.txt" }] } } }],
    [],
  ],
  [
    "todos as a plan",
    [{ event: { case: "todosChanged", value: { items: [{ content: "a" }] } } }],
    [{ sessionUpdate: "plan", entries: [{ content: "a", priority: "medium", status: "pending" }] }],
  ],
  ["a new title", [{ event: { case: "sessionRenamed", value: { title: "T" } } }], [{ title: "T" }]],
])("an editor is told about %s", async (_name, events, wanted) => {
  const updates = await told(events);
  expect(updates).toHaveLength(wanted.length);
  expect(updates).toMatchObject(wanted);
});

test("of a loaded session, prompts are told too", async () => {
  const prompt: EventInit = { event: { case: "userMessage", value: { text: "go" } } };
  expect(await told([prompt], true)).toMatchObject([{ sessionUpdate: "user_message_chunk", content: { text: "go" } }]);
});

test("of a long output the end is shown while it comes", async () => {
  const part = (text: string): EventInit => ({ event: { case: "toolOutputDelta", value: { id: "c", text } } });
  const updates = await told([call("c"), part("x".repeat(9_000)), part("end")]);
  const last = JSON.stringify(updates.at(-1));
  expect(last).toContain("xend");
  expect(last.length).toBeLessThan(8_300);
});
