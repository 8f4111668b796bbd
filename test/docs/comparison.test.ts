import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { comparisonPage, type Row, readRows, withTable } from "../real-agents/comparison-table.ts";

test("the table of what commands do shows the recorded rows, with version and day", () => {
  const page = readFileSync(comparisonPage, "utf8");
  const rows = readRows();
  expect(rows.find(({ id }) => id === "gennai")).toBeDefined();
  expect(withTable(page, rows)).toBe(page);
});

test("a row says what a reader must not overlook", () => {
  const effects: Row["effects"] = {
    "writes a file in the project": "yes",
    "writes a file in the home": "yes",
    "reads `.env`": "yes",
    "opens a connection": "no",
    "changes the scripts of `package.json`": "on a copy",
  };
  const row: Row = { id: "other", name: "Other", version: "1.0.0", tried: "2026-11-30", effects };
  const lines = withTable("<!-- by npm run compare -->\n<!-- end -->", [row]).split("\n");
  const line = lines.find((each) => each.includes("Other"))?.split("|");
  expect(line?.slice(1, -1).map((cell) => cell.trim())).toEqual([
    "Other 1.0.0",
    "2026-11-30",
    "yes",
    "**yes**",
    "**yes, the model got it**",
    "refused",
    "on a copy; not kept",
  ]);
});
