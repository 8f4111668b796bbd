// @vitest-environment happy-dom

import { SessionView } from "@gennai/client/view/session-view";
import { InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { Verdict } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { h, render } from "preact";
import { expect, it, vi } from "vitest";
import { ChatProvider, Folds } from "#chat/chat-context";
import { ChatRow } from "#chat/items/chat-row.tsx";
import { EventLog } from "../../../client/test/view/wire-events.ts";
import { idleControl } from "./idle-control.ts";

async function shownRows(log: EventLog) {
  const view = new SessionView();
  for (const event of log.events) view.apply(event);
  const root = document.createElement("div");
  const rows = view.cells.map((cell) => h(ChatRow, { key: cell.key, cell }));
  render(h(ChatProvider, { value: { control: idleControl(), folds: new Folds() }, children: rows }), root);
  return root;
}

const call = { id: "c", name: "Bash", argumentsJson: '{"command":"ls -l","description":"<b>list</b>"}' };
const calling = () => new EventLog().add("t", { case: "toolCall", value: call }, "c");

it("never calls an exit that nobody knows a success", async () => {
  const log = calling().status("t", InvokeState.RUN_TOOL, { toolCallId: "c", toolName: "Bash" });
  log.add("t", { case: "toolResult", value: { id: "c", output: "sent" } });
  expect((await shownRows(log)).textContent).toContain("exit unknown");
});

it("says in words why a call did not run", async () => {
  const decision = {
    toolCallId: "c",
    toolName: "Bash",
    verdict: Verdict.DENY,
    rule: "floor/x",
    reason: "It deletes everything.",
  };
  const log = calling().add("t", { case: "gateDecision", value: decision });
  log.add("t", { case: "toolResult", value: { id: "c", error: "refused", output: "refused" } });
  const { textContent } = await shownRows(log);
  expect(textContent).toContain("denied");
  expect(textContent).toContain("It deletes everything. (rule floor/x)");
});

it("folds a call out to its arguments, as text", async () => {
  const root = await shownRows(calling());
  const head = root.querySelector<HTMLElement>(".tool-head");
  expect(head?.getAttribute("aria-expanded")).toBe("false");
  head?.click();
  await vi.waitFor(() => expect(head?.getAttribute("aria-expanded")).toBe("true"));
  expect(root.querySelector(".tool-body")?.textContent).toContain("<b>list</b>");
  expect(root.querySelector(".tool-body b")).toBeNull();
});

it("shows what the user wrote as text", async () => {
  const text = "<img src=x onerror=alert(1)> **not bold**";
  const root = await shownRows(new EventLog().add("t", { case: "userMessage", value: { text } }));
  expect(root.querySelector(".user-text")?.textContent).toBe(text);
  expect(root.querySelector("img")).toBeNull();
});

it("draws a row again when its item changes", async () => {
  const log = new EventLog().add("t", { case: "assistantDelta", value: { text: "one" } }, "i");
  const view = new SessionView();
  for (const event of log.events) view.apply(event);
  const [cell] = view.cells;
  if (cell === undefined) throw new Error("no cell");
  const root = document.createElement("div");
  render(
    h(ChatProvider, { value: { control: idleControl(), folds: new Folds() }, children: h(ChatRow, { cell }) }),
    root,
  );
  const more = new EventLog().add("t", { case: "assistantDelta", value: { text: "one" } }, "i");
  more.add("t", { case: "assistantDelta", value: { text: " two" } }, "i");
  for (const event of more.events) view.apply(event);
  await vi.waitFor(() => expect(root.textContent).toContain("one two"));
});
