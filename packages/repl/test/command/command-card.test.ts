// @vitest-environment happy-dom

import { SessionView } from "@gennai/client/view/session-view";
import { InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { h, render } from "preact";
import { expect, test, vi } from "vitest";
import { ChatProvider, Folds } from "#chat/chat-context";
import { ChatRow } from "#chat/items/chat-row.tsx";
import { EventLog } from "../../../client/test/view/wire-events.ts";
import { idleControl } from "../chat/idle-control.ts";

function shown(log: EventLog) {
  const view = new SessionView();
  for (const event of log.events) view.apply(event);
  const root = document.createElement("div");
  const rows = view.cells.map((cell) => h(ChatRow, { key: cell.key, cell }));
  render(h(ChatProvider, { value: { control: idleControl(), folds: new Folds() }, children: rows }), root);
  return root;
}

const calling = (command: string, more: object = {}) =>
  new EventLog().add(
    "t",
    { case: "toolCall", value: { id: "c", name: "Bash", argumentsJson: JSON.stringify({ command, ...more }) } },
    "c",
  );

function button(root: HTMLElement, name: string): HTMLButtonElement | undefined {
  return [...root.querySelectorAll("button")].find(
    (each) => (each.getAttribute("aria-label") ?? each.textContent)?.startsWith(name) === true,
  );
}

test("a command stands whole on lines of its own, with what hides in it", () => {
  const command = `echo one &&\n  echo ${"x".repeat(200)} \u202Eoops`;
  const root = shown(calling(command));
  expect(root.querySelector(".command-text")?.textContent).toBe(command.replace("\u202E", "U+202E"));
});

test("a long command is folded until somebody wants all of it", async () => {
  const command = Array.from({ length: 30 }, (_, line) => `echo ${line}`).join("\n");
  const root = shown(calling(command));
  expect(root.querySelector(".command-text")?.textContent).toMatch(/^echo 0\n[^]*echo 7…$/);
  button(root, "Show all (30 lines)")?.click();
  await vi.waitFor(() => expect(root.querySelector(".command-text")?.textContent).toBe(command));
});

test("when it has ended, its exit code and its output are there and its stop is not", async () => {
  const log = calling("npm test").status("t", InvokeState.RUN_TOOL, { toolCallId: "c", toolName: "Bash" });
  log.add("t", { case: "toolResult", value: { id: "c", output: "two failed", error: "It failed.", exitCode: 1 } });
  const root = shown(log);
  expect(root.querySelector(".command-state")?.textContent).toContain("exit 1");
  expect(button(root, "Stop")).toBeUndefined();
  expect(root.textContent).not.toContain("two failed");
  button(root, "Full output")?.click();
  await vi.waitFor(() => expect(root.textContent).toContain("two failed"));
});
