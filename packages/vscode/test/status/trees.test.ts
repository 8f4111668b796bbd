import { create } from "@bufbuild/protobuf";
import type { GovernanceClient } from "@gennai/client/connection/connection";
import { LedgerRecordSchema } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import type { Todo } from "@gennai/protocol/model/session/todo";
import { describe, expect, it, vi } from "vitest";
import { TimelineTree, timelineRow } from "../../src/status/timeline-tree.ts";
import { moveTodo, replaceTodo } from "../../src/status/todo-tree.ts";

vi.mock("vscode", () => ({}));

const items = ["a", "b", "c"].map(
  (id): Todo => ({
    id,
    content: id,
    status: "pending",
    priority: "medium",
    created: "",
    updated: "",
  }),
);

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
      metadata: { seq: 3, kind: "outcome", calls: [{ call_id: "1", tool: "Edit", verdict: "allow" }] },
      files: [{ path: "a.ts" }],
    };
    expect(timelineRow(JSON.stringify(record))).toEqual({
      label: "Edit",
      description: "10:20:30 · a.ts",
      tone: "plain",
      time: "2026-01-01T10:20:30Z",
      begins: [],
      ends: ["1"],
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

it("shows a call that ended as one row", async () => {
  const record = (seq: number, kind: string, id: string) => {
    const json = JSON.stringify({ metadata: { seq, kind, calls: [{ call_id: id, tool: "Bash", verdict: "allow" }] } });
    return create(LedgerRecordSchema, { seq: BigInt(seq), json });
  };
  const records = [record(1, "intent", "a"), record(2, "outcome", "a"), record(3, "intent", "b")];
  const governance = { listLedgerRecords: async () => ({ records }) } as unknown as GovernanceClient;
  const tree = new TimelineTree(
    () => ({ governance, sessionId: "s" }),
    () => undefined,
  );
  await tree.load();
  expect(tree.getChildren().map(({ seq }) => seq)).toEqual([3n, 2n]);
});
