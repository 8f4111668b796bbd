// @vitest-environment happy-dom
import { Code, ConnectError } from "@connectrpc/connect";
import { InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { expect, onTestFinished, test, vi } from "vitest";
import { StatusLine } from "#chat/status-line.tsx";
import { appOn, OneSession, opened, progress } from "../control/one-session.ts";

test("while the server is not heard, no clock counts on and nothing is said to go on", async () => {
  const server = new OneSession();
  const { subscribe } = server.methods;
  let isGone = false;
  server.methods.subscribe = (request, context) => {
    if (isGone || subscribe === undefined) throw new ConnectError("gone", Code.Unavailable);
    return subscribe(request, context);
  };
  const { control } = appOn(server);
  await opened(control);
  control.turns.send("work");
  await progress(control, "running");
  server.emit({ case: "status", value: { state: InvokeState.THINKING, iteration: 4 } });
  const root = document.createElement("div");
  onTestFinished(() => render(null, root));
  await act(() => render(h(StatusLine, { control }), root));
  await vi.waitFor(() => expect(root.textContent).toContain("Thinking, step 4"));
  isGone = true;
  await act(() => control.followed.value?.reconnect());
  await vi.waitFor(() => expect(root.querySelector(".status-now")?.textContent).toMatch(/No connection$/));
  expect(root.querySelector(".quiet")).toBeNull();
});
