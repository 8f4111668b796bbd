import { SessionView } from "@gennai/client/view/session-view";
import { FailureClass } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { expect, it } from "vitest";
import { scopeExpansions } from "#shell/panels.tsx";
import { EventLog } from "../../../client/test/view/wire-events.ts";

function viewOf(log: EventLog): SessionView {
  const view = new SessionView();
  for (const event of log.events) view.apply(event);
  return view;
}

it("lists what was asked for beyond the intent's scope", () => {
  const argumentsJson = JSON.stringify({ paths: ["docs/**"], reason: "to document it" });
  const log = new EventLog()
    .add("", { case: "intentSelected", value: { intent: { id: "i1", name: "One" } } })
    .add("t", { case: "toolCall", value: { id: "c", name: "request_scope_expansion", argumentsJson } });
  const wanted = { requestId: "c", intentId: "i1", paths: ["docs/**"], reason: "to document it" };
  expect(scopeExpansions(viewOf(log))).toEqual([{ ...wanted, state: "open" }]);
  log.add("t", {
    case: "toolResult",
    value: { id: "c", error: "No.", failureClass: FailureClass.PERMISSION_DENIED },
  });
  expect(scopeExpansions(viewOf(log))).toEqual([{ ...wanted, state: "refused" }]);
});
