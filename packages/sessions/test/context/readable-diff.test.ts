import { expect, test } from "vitest";
import { readableDiff } from "#context/gather-context";

const section = (path: string, line: string) =>
  `diff --git ${path} ${path}\nindex 1..2 100644\n--- ${path}\n+++ ${path}\n@@ -1 +1 @@\n-old\n+${line}\n`;
const refusalOf = async (path: string) => (/(?:^|\/)\.env/.test(path) ? "it holds secrets." : undefined);

test.each<[string, string, string]>([
  ["nothing", "", ""],
  ["what may be read", section("src/a b/c.ts", "new"), section("src/a b/c.ts", "new")],
  ["a file of secrets", section(".env", "hunter2"), "[.env is left out: it holds secrets.]\n"],
  [
    "one among others",
    `${section("a.ts", "new")}${section("x b/.env", "hunter2")}${section("z.ts", "diff --git .env .env")}`,
    `${section("a.ts", "new")}[x b/.env is left out: it holds secrets.]\n${section("z.ts", "diff --git .env .env")}`,
  ],
  ["a name in quotes", `diff --git "\\303\\244" "\\303\\244"\n+x\n`, "[a file is left out: its name cannot be read]\n"],
  ["two names", "diff --git x .env\n+hunter2\n", "[a file is left out: its name cannot be read]\n"],
])("%s", async (_name, diff, wanted) => {
  expect(await readableDiff(diff, refusalOf)).toBe(wanted);
});
