import { expect, test } from "vitest";
import { type Ratios, slowerLines, slowerRows } from "./slower-rows.ts";

const recorded = { read: 4, edit: 8, shell: 5 };

test.each<{ readonly what: string; readonly measured: Ratios; readonly named: readonly string[] }>([
  { what: "the same", measured: { read: 4, edit: 8, shell: 5 }, named: [] },
  { what: "faster", measured: { read: 1, edit: 2, shell: 3 }, named: [] },
  { what: "a fifth slower", measured: { read: 4.8, edit: 9.6, shell: 6 }, named: [] },
  { what: "more than that", measured: { read: 4.81, edit: 8, shell: 5 }, named: ["read"] },
  { what: "several", measured: { read: 6, edit: 40, shell: 5 }, named: ["edit", "read"] },
  { what: "a row that is not there", measured: { read: 6, shell: 5 }, named: ["edit", "read"] },
  { what: "a system that does not tell", measured: { read: Number.NaN, edit: 8, shell: 5 }, named: ["read"] },
  { what: "a floor of nothing", measured: { read: Number.POSITIVE_INFINITY, edit: 8, shell: 5 }, named: ["read"] },
  { what: "a row that was never recorded", measured: { read: 4, edit: 8, shell: 5, other: 99 }, named: [] },
])("names what got slower by more than a fifth: $what", ({ measured, named }) => {
  expect(slowerRows(recorded, measured).map(({ name }) => name)).toEqual(named);
});

test("says by how much, or that nobody knows", () => {
  const lines = slowerLines(slowerRows(recorded, { read: 8, edit: 8 }));
  expect(lines).toEqual([
    "slower? shell: not measured, recorded 5.0 x",
    "slower: read: 8.0 x the floor's processor time, recorded 4.0 x",
  ]);
});
