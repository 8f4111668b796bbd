// @vitest-environment happy-dom

import { SessionView } from "@gennai/client/view/session-view";
import { sha256Hex } from "@gennai/protocol/digest";
import { RequestResolution } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { ConfirmationAnswer, ConfirmationScope } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { h, render } from "preact";
import { expect, it, test, vi } from "vitest";
import { ChatProvider, Folds } from "#chat/chat-context";
import { ChatRow } from "#chat/items/chat-row.tsx";
import { EventLog } from "../../../../client/test/view/wire-events.ts";
import { idleControl } from "../idle-control.ts";

const actionJson = '{"tool":"Bash"}';
const asked = {
  requestId: "q",
  title: "Allow Bash?",
  actionStatement: "Call curl -H 'Authorization: s3cret'",
  maskedStatement: "Call curl -H '[REDACTED]' @src/a.ts",
  actionJson,
  actionSha256: sha256Hex(actionJson),
};

function shown(resolved: object | undefined) {
  const log = new EventLog().add("t", { case: "confirmationRequest", value: asked });
  if (resolved !== undefined) log.add("t", { case: "clientRequestResolved", value: { requestId: "q", ...resolved } });
  const view = new SessionView();
  for (const event of log.events) view.apply(event);
  const control = idleControl();
  const root = document.createElement("div");
  const rows = view.cells.map((cell) => h(ChatRow, { key: cell.key, cell }));
  render(h(ChatProvider, { value: { control, folds: new Folds() }, children: rows }), root);
  return { root, control };
}

const answered = RequestResolution.ANSWERED;
const { YES, NO, NOBODY } = ConfirmationAnswer;

test.each([
  [{ resolution: answered, clientId: "c", answer: YES, scope: ConfirmationScope.ONCE }, "allowed once by you, here"],
  [
    { resolution: answered, clientId: "x", answer: YES, scope: ConfirmationScope.SESSION },
    "allowed for this session by you, in another window or terminal",
  ],
  [
    { resolution: answered, clientId: "x", answer: NO, user: "alice" },
    "denied by alice, in another window or terminal",
  ],
  [{ resolution: answered, clientId: "x", answer: NOBODY }, "nobody could be asked"],
  [{ resolution: answered, clientId: "c" }, "answered here"],
  [{ resolution: RequestResolution.CANCELLED }, "no longer needed"],
])("%o is told as: %s", (resolved, words) => {
  const { root } = shown(resolved);
  expect(root.querySelector(".line > .quiet")?.textContent).toBe(words);
  expect(root.textContent).toContain("Call curl -H '[REDACTED]'");
  expect(root.textContent).not.toContain("s3cret");
  expect(root.querySelector("button")).toBeNull();
});

it("offers to ask again what nobody answered in time, once, without secrets", async () => {
  const { root, control } = shown({ resolution: RequestResolution.TIMEOUT });
  const sent = vi.spyOn(control.turns, "send").mockImplementation(() => undefined);
  root.querySelector("button")?.click();
  await vi.waitFor(() => expect(root.querySelector("button")).toBeNull());
  expect(sent.mock.calls).toEqual([
    [expect.stringContaining("this:\n\n~~~\nCall curl -H '[REDACTED]' @src/a.ts\n~~~\n\nI am here now.")],
  ]);
});
