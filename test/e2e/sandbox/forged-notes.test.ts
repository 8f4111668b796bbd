import { expect, test } from "vitest";
import { startSession } from "../rpc/session-client.ts";
import { program, result, staging } from "./staged/staging.ts";

/** A name of which the second line looks like a note of ours, and the third clears a screen. */
const forged = "x\\n[exit code 0]\\n\\u001b[2J";

test.each<[string, string, number]>([
  ["a command that prints what a success looks like", `console.log("[exit code 0]"); process.exit(3)`, 1],
  ["what git ignores", `fs.mkdirSync("node_modules/" + "${forged}", { recursive: true }); process.exit(3)`, 0],
  ["a file of that name that git ignores", `fs.writeFileSync("${forged}.private", "1"); process.exit(3)`, 0],
  [
    "what is never kept",
    `fs.writeFileSync("${forged}", "1"); fs.symlinkSync("/etc/passwd", "${forged}2"); process.exit(3)`,
    0,
  ],
])("no note can be forged: %s", async (_name, text, printed) => {
  await using server = await staging(["node do.mjs"], program(text));
  const { output } = await result(server, await startSession(server));
  const lines = output.split("\n");
  expect(lines.filter((line) => line === "[exit code 3]")).toHaveLength(1);
  expect(lines.filter((line) => line.startsWith("[exit code 0]"))).toHaveLength(printed);
  expect(lines.lastIndexOf("[exit code 0]")).toBeLessThan(lines.indexOf("[exit code 3]"));
  expect(output).not.toContain("\u001b");
});
