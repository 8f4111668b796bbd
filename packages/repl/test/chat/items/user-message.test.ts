// @vitest-environment happy-dom

import { SessionView } from "@gennai/client/view/session-view";
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { expect, it, vi } from "vitest";
import { ChatProvider, Folds } from "#chat/chat-context";
import { ChatRow } from "#chat/items/chat-row.tsx";
import { EventLog } from "../../../../client/test/view/wire-events.ts";
import { idleControl } from "../idle-control.ts";

it.each([
  ["Retry", "Retry in a copy", "retry"],
  ["Edit", "Edit in a copy", "edit"],
])("%s says what happens to session and files before it does anything", async (name, go, how) => {
  const view = new SessionView();
  const log = new EventLog().add("t", { case: "userMessage", value: { text: "do it" } });
  for (const event of log.events) view.apply(event);
  const [cell] = view.cells;
  if (cell === undefined) throw new Error("no cell");
  const control = idleControl();
  const sayAgain = vi.spyOn(control.sessions, "sayAgain").mockResolvedValue();
  const root = document.createElement("div");
  const value = { control, folds: new Folds() };
  await act(() => render(h(ChatProvider, { value, children: h(ChatRow, { cell }) }), root));
  const press = (label: string) =>
    act(() => [...root.querySelectorAll("button")].find(({ textContent }) => textContent === label)?.click());
  await press(name);
  expect(sayAgain).not.toHaveBeenCalled();
  expect(root.textContent).toContain("This session stays as it is. Files stay as they are now");
  await press(go);
  expect(sayAgain.mock.calls).toMatchObject([[{ turnId: "t", item: { text: "do it" } }, how]]);
});
