import { createRedactor } from "@gennai/machine/redaction/redactor";
import { expect, test } from "vitest";
import { SeenContents } from "#session/state/seen-contents";
import { noise, pem } from "../../../../../machine/test/redaction/secret-cases.ts";
import { ToolBench } from "../../tool-bench.ts";

test("a hunk beside the middle of a private key shows nothing of the key", async () => {
  const blobs = { put: () => Promise.reject(new Error("nothing is stored")), get: async () => undefined };
  using bench = new ToolBench({ seen: new SeenContents(blobs, await createRedactor()) });
  const read = `const key = \`${pem}\`;\nconst last = 1;\n`;
  bench.file("keys.ts", read);
  await bench.run("Read", { file_path: "keys.ts" });
  bench.file("keys.ts", read.replace("last = 1", "last = 2"));
  const args = { file_path: "keys.ts", old_string: "const last", new_string: "const first" };
  const { analysis } = await bench.analyse("Edit", args);
  const refusal = { code: "stale_file", message: "It changed.", retryable: true };
  const context = { callId: "call-1", turnId: "turn-1", signal: new AbortController().signal };
  const detail = await bench.tools.get("Edit")?.explainRefusal?.(args, analysis, refusal, context);
  expect(detail).toContain("last = 2");
  expect(detail).toContain("[REDACTED:private-key]");
  expect(detail).not.toContain(noise(64));
});
