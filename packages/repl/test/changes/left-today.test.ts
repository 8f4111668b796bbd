// @vitest-environment happy-dom
import { create } from "@bufbuild/protobuf";
import { TraceCallResponseSchema } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { signal } from "@preact/signals";
import { h, render } from "preact";
import { expect, it, vi } from "vitest";
import { LeftToday } from "#changes/left-today.tsx";
import { ChatProvider, Folds } from "#chat/chat-context";
import { CallTraces } from "#control/session-stores";
import { idleControl } from "../chat/idle-control.ts";

type Answer = Parameters<typeof create<typeof TraceCallResponseSchema>>[1];

function shown(answer: Answer | Error, openFile?: (place: unknown) => Promise<void>) {
  const asked: unknown[] = [];
  const client = {
    traceCall: async (request: unknown) => {
      asked.push(request);
      if (answer instanceof Error) throw answer;
      return create(TraceCallResponseSchema, answer);
    },
  };
  const control = idleControl();
  const traces = new CallTraces(client, "session");
  vi.spyOn(control, "stores", "get").mockReturnValue(signal(Object.assign(control.stores.value, { traces })));
  if (openFile !== undefined) Object.assign(control.host, { openFile });
  const root = document.createElement("div");
  render(
    h(ChatProvider, {
      value: { control, folds: new Folds() },
      children: [h(LeftToday, { turnId: "turn", callId: "call", key: 1 })],
    }),
    root,
  );
  const press = (label: string) =>
    [...root.querySelectorAll("button")].find((button) => button.textContent === label)?.click();
  return { root, asked, press, traces };
}

const ok = { status: "ok", message: "" };
const ask = "Which of these lines are still in the file?";

it("asks nothing before the reader wants to know, then names places that open in the editor", async () => {
  const opened: unknown[] = [];
  const { root, asked, press } = shown(
    {
      trust: ok,
      written: 5,
      files: [
        { path: "a.js", readable: true, spans: [{ firstLine: 3, lineCount: 2 }] },
        { path: "gone.js", readable: false, spans: [] },
      ],
    },
    async (place) => void opened.push(place),
  );
  expect(asked).toEqual([]);
  press(ask);
  await vi.waitFor(() => expect(root.textContent).toContain("2 lines of 5 that it wrote are still there"));
  expect(asked).toEqual([{ sessionId: "session", turnId: "turn", callId: "call" }]);
  expect(root.textContent).toContain("gone.js: it is gone, or could not be looked into");
  press("a.js:3-4");
  expect(opened).toEqual([{ path: "a.js", line: 3 }]);
  press("Look again");
  await vi.waitFor(() => expect(asked).toHaveLength(2));
});

it.each([
  { name: "no record", answer: { trust: ok, written: 0, files: [] }, says: "nothing can be said of its lines" },
  {
    name: "nothing left",
    answer: { trust: ok, written: 2, files: [{ path: "a.js", readable: true, spans: [] }] },
    says: "None of its lines is left.",
  },
  {
    name: "a ledger that is not as it was signed",
    answer: { trust: { status: "broken_chain", message: "Record 3." }, written: 0, files: [] },
    says: "The ledger is not as it was signed (broken_chain): Record 3.",
  },
  { name: "a failure", answer: new Error("The server is away."), says: "The server is away." },
])("says of $name what it is", async ({ answer, says }) => {
  const { root, press } = shown(answer);
  press(ask);
  await vi.waitFor(() => expect(root.textContent).toContain(says));
});

it("names places to be copied where there is no editor", async () => {
  const { root, press } = shown({
    trust: ok,
    written: 1,
    files: [{ path: "a.js", readable: true, spans: [{ firstLine: 9, lineCount: 1 }] }],
  });
  press(ask);
  await vi.waitFor(() => expect(root.querySelector("code")?.textContent).toBe("a.js:9"));
  expect(root.textContent).toContain("1 line of 1 that it wrote is still there");
});

it("asks again for what was answered when changes were taken back, and for nothing else", async () => {
  const { root, asked, press, traces } = shown({ trust: ok, written: 1, files: [] });
  traces.askAgain();
  expect(asked).toEqual([]);
  press(ask);
  await vi.waitFor(() => expect(root.textContent).toContain("Look again"));
  traces.askAgain();
  await vi.waitFor(() => expect(asked).toHaveLength(2));
});
