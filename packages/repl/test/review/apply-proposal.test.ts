import { expect, test } from "vitest";
import { filesNamedIn } from "#review/apply-proposal";

const change = {
  id: "1",
  operation: "update",
  unifiedDiff: "",
  newContent: "",
  baseSha256: "",
  conflict: false,
  warning: "",
  hunks: [],
} as const;
const proposal = { changes: ["src/a.ts", "src/gone.ts"].map((path) => ({ ...change, path })) };

test.each([
  { message: "Nothing was applied: src/a.ts changed since the proposal was made.", wanted: ["src/a.ts"] },
  { message: "src/a.ts, src/gone.ts changed", wanted: ["src/a.ts", "src/gone.ts"] },
  { message: "Look at src/a.tsx and lib/src/a.ts", wanted: [] },
  { message: "It was src/a.ts.", wanted: ["src/a.ts"] },
])("files in: $message", ({ message, wanted }) => expect(filesNamedIn(message, proposal)).toEqual(wanted));
