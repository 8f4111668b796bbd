// @vitest-environment happy-dom
import { EditorView } from "@codemirror/view";
import { sha256Hex } from "@gennai/protocol/digest";
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { expect, test, vi } from "vitest";
import { FileThen } from "#timeline/file-then.tsx";
import { newerVersion, timelineRecord } from "#timeline/timeline-record";

const texts = ["one\ntwo\n", "one\n2\n", "one\n2\nthree\n"];
const [first = "", second = "", third = ""] = texts.map((text) => sha256Hex(text));
const kept = new Map(texts.map((text) => [sha256Hex(text), new TextEncoder().encode(text)]));

const record = (seq: number, before: string, after: string) =>
  timelineRecord(
    seq,
    JSON.stringify({
      metadata: {
        changes: [{ path: "a.ts", operation: "update", before_sha256: before, after_sha256: after }, { path: "b.ts" }],
      },
    }),
  );
const records = [record(4, first, second), record(9, second, third)];

async function show(seq: number, source: (sha256: string) => Promise<Uint8Array>) {
  const shown = records.find((each) => each.seq === seq);
  const [version] = shown?.changes ?? [];
  if (shown === undefined || version === undefined) throw new Error("no version");
  const root = document.createElement("div");
  document.body.append(root);
  const newest = newerVersion(records, shown, "a.ts");
  await act(() => render(h(FileThen, { version, newest, source }), root));
  const press = (name: string) =>
    act(() => [...root.querySelectorAll("button")].find(({ textContent }) => textContent === name)?.click());
  return { root, press };
}

const source = async (sha256: string) => kept.get(sha256) ?? Promise.reject(new Error("It was purged."));

test("a file is shown as it was, what the record changed, and what came since", async () => {
  const { root, press } = await show(4, source);
  const editor = await vi.waitFor(() => {
    const dom = root.querySelector(".code-pane")?.shadowRoot?.querySelector<HTMLElement>(".cm-editor");
    const found = dom ? EditorView.findFromDOM(dom) : null;
    if (found === null) throw new Error("There is no editor.");
    return found;
  });
  expect(editor.state.doc.toString()).toBe("one\n2\n");
  expect(editor.state.readOnly).toBe(true);
  await press("What changed");
  await vi.waitFor(() => expect(root.querySelector("table")?.textContent).toMatch(/two[^]*2/));
  await press("Since then");
  await vi.waitFor(() => expect(root.querySelector("table")?.textContent).toContain("three"));
  expect(root.querySelector("table")?.textContent).not.toContain("two");
});

test("the newest has nothing since, and what is not kept says so", async () => {
  const { root, press } = await show(9, () => Promise.reject(new Error("It was purged.")));
  await vi.waitFor(() =>
    expect(root.textContent).toContain("It cannot be shown: The file could not be fetched: It was purged."),
  );
  await press("Since then");
  expect(root.textContent).not.toContain("From then to");
});

test("other bytes than the record names are not shown", async () => {
  const { root } = await show(4, async () => new TextEncoder().encode("forged"));
  await vi.waitFor(() => expect(root.textContent).toContain("not what its digest says"));
});
