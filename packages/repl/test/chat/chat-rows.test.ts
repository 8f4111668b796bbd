import type { ItemCell, ViewItem } from "@gennai/client/view/items/view-item";
import { signal } from "@preact/signals";
import { expect, test } from "vitest";
import { ChatRows } from "#chat/items/chat-view.tsx";

let last = 0;
function cell(kind: ViewItem["kind"], parentCallId = ""): ItemCell {
  last += 1;
  const item = signal({ kind } as ViewItem);
  return { key: `${kind}:${last}`, seq: BigInt(last), turnId: "t", time: undefined, parentCallId, item };
}
const step = (parent = "") => cell("client-request", parent);
const call = (parent = "") => cell("tool-call", parent);

test("the editor's steps of calls that follow one another are one row, which more join", () => {
  const rows = new ChatRows();
  const cells = [cell("user-message"), call(), step(), call(), step()];
  expect(rows.grow(cells).map((row) => row.cells.length)).toEqual([1, 1, 2, 1]);
  cells.push(step(), cell("assistant"), step(), call(), step());
  const grown = rows.grow(cells);
  expect(grown.map((row) => row.cells.length)).toEqual([1, 1, 3, 1, 1, 2, 1]);
  expect(grown.flatMap((row) => row.cells.map(({ key }) => key)).toSorted()).toEqual(
    cells.map(({ key }) => key).toSorted(),
  );
  // Nothing is added twice.
  expect(rows.grow(cells)).toHaveLength(7);
});

test("a sub-agent's steps do not join those of the session", () => {
  const rows = new ChatRows().grow([call(), step(), call("task"), step("task"), step("task")]);
  expect(rows.map((row) => row.cells.length)).toEqual([1, 1, 1, 2]);
});
