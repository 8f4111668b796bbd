// @vitest-environment happy-dom
import { createRouterTransport } from "@connectrpc/connect";
import type { HostNotice } from "@gennai/client/host/host-messages";
import type { HostCommand } from "@gennai/client/host/window-requests";
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { expect, test, vi } from "vitest";
import { handleHostNotice } from "#control/handle-host-notice";
import { ReplControl } from "#control/repl-control";
import { Banners } from "#shell/banners.tsx";
import { idleControl } from "../chat/idle-control.ts";

async function shown(
  notice: HostNotice,
  runHostCommand = vi.fn<(command: HostCommand) => Promise<void>>(async () => undefined),
) {
  const { host } = idleControl();
  using control = new ReplControl({ ...host, kind: "editor", runHostCommand });
  handleHostNotice(control, notice);
  const root = document.createElement("div");
  await act(() => render(h(Banners, { control }), root));
  const buttons = [...root.querySelectorAll("button")];
  return { control, root, buttons, runHostCommand, words: buttons.map(({ textContent }) => textContent) };
}

test.each([
  [["openFolder"], ["Open folder"]],
  [
    ["setToken", "showLog"],
    ["Enter token", "Show log"],
  ],
  [undefined, ["Start server", "Show log"]],
] as const)("what mends the way to the server is a button: %s", async (steps, words) => {
  const notice = { type: "server", state: "refused", message: "There is none." } as const;
  const banner = await shown(steps === undefined ? notice : { ...notice, steps });
  expect(banner.root.textContent).toContain("There is none.");
  expect(banner.words).toEqual(words);
  banner.buttons[0]?.click();
  expect(banner.runHostCommand.mock.calls).toEqual([[steps?.[0] ?? "startServer"]]);
});

test("a server that cannot be reached is mended as the host says, not by starting one", async () => {
  const { host } = idleControl();
  const transport = createRouterTransport(() => undefined);
  using control = new ReplControl({ ...host, transport, kind: "editor", runHostCommand: async () => undefined });
  await vi.waitFor(() => expect(control.opening.value.state).toBe("retrying"));
  const root = document.createElement("div");
  await act(() => render(h(Banners, { control }), root));
  const words = () => [...root.querySelectorAll("button")].map(({ textContent }) => textContent);
  expect(words()).toEqual(["Start server", "Show log"]);
  const notice = { type: "server", state: "unreachable", message: "Open a folder.", steps: ["openFolder"] } as const;
  await act(() => handleHostNotice(control, notice));
  expect(root.textContent).toContain("Open a folder.");
  expect(words()).toEqual(["Open folder"]);
});

test("a window that only watches has Take over, until it does not watch any more", async () => {
  const banner = await shown({ type: "role", watching: true });
  expect(banner.words).toEqual(["Take over"]);
  await act(() => handleHostNotice(banner.control, { type: "role", watching: false }));
  expect(banner.root.textContent).toBe("");
});

test("a step that fails is told", async () => {
  const failing = vi.fn<(command: HostCommand) => Promise<void>>(async () => {
    throw new Error("No window.");
  });
  const banner = await shown({ type: "role", watching: true }, failing);
  await act(() => banner.buttons[0]?.click());
  expect(banner.control.failure.value?.message).toBe("It was not done: No window.");
});
