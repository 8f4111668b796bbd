import { create } from "@bufbuild/protobuf";
import { TodoItemSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { describe, expect, it } from "vitest";
import { timelineRow } from "../../src/status/ledger-line.ts";
import { moveTodo, replaceTodo } from "../../src/status/todo-list.ts";

const items = ["a", "b", "c"].map((id) => create(TodoItemSchema, { id, content: id }));

describe("todo list", () => {
  it.each([
    { id: "c", before: "a", want: ["c", "a", "b"] },
    { id: "a", before: undefined, want: ["b", "c", "a"] },
    { id: "a", before: "a", want: ["a", "b", "c"] },
    { id: "a", before: "gone", want: ["b", "c", "a"] },
    { id: "gone", before: "a", want: ["a", "b", "c"] },
  ])("moves $id before $before", ({ id, before, want }) => {
    expect(moveTodo(items, id, before).map((todo) => todo.id)).toEqual(want);
  });

  it("edits one", () => {
    expect(replaceTodo(items, "b", { content: "B" }).map(({ content }) => content)).toEqual(["a", "B", "c"]);
  });
});

describe("timelineRow", () => {
  it("says what was called and which files changed", () => {
    const record = {
      timestamp: "2026-01-01T10:20:30Z",
      metadata: { seq: 3, kind: "outcome", calls: [{ tool: "Edit", verdict: "allow" }] },
      files: [{ path: "a.ts" }],
    };
    expect(timelineRow(JSON.stringify(record))).toEqual({
      label: "outcome · Edit allow",
      description: "10:20:30 · a.ts",
      tone: "plain",
      time: "2026-01-01T10:20:30Z",
    });
  });

  it.each([
    { json: '{"metadata":{"kind":"refusal","calls":[{"tool":"Bash","verdict":"deny"}]}}', tone: "denied" },
    { json: '{"metadata":{"kind":"intent","calls":[{"tool":"Bash","verdict":"ask"}]}}', tone: "asked" },
    { json: "{}", tone: "plain" },
    { json: "no record", tone: "denied" },
  ])("$json is $tone", ({ json, tone }) => {
    expect(timelineRow(json).tone).toBe(tone);
  });
});
