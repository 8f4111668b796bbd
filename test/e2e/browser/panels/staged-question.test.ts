import { existsSync } from "node:fs";
import { bash } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { openPage } from "../page/open-page.ts";
import { takeScreenshot } from "../page/screenshot.ts";
import { useGennai } from "../page/use-gennai.ts";

const gennai = useGennai({
  files: {
    "src/add.ts": "export function add(a: number, b: number) {\n  return a + b;\n}\n",
    "AGENTS.md": "# Notes\n\nBe brief.\n",
  },
  script: [
    {
      match: "^tidy",
      steps: [bash("sed -i s/brief/kind/ AGENTS.md && echo 1 > notes.txt"), { text: ["Done with it."] }],
    },
    {
      match: "^again",
      steps: [bash("echo no > AGENTS.md; echo 1 > less.txt; echo 2 > more.txt"), { text: ["Done with that."] }],
    },
  ],
  args: ["--commands", "staged"],
});

test("what a command has changed is read before it is kept, and a yes keeps exactly that", async () => {
  const { workspace } = gennai();
  await using on = await openPage(gennai());
  await on.repl.send("tidy up");
  await on.repl.question.waitFor();
  await on.repl.question.getByRole("button", { name: "Show change" }).click();
  const shown = await on.repl.root.getByLabel("What would be kept").textContent();
  expect(shown).toContain("-Be brief.\n+Be kind.\n");
  expect(shown).toContain("+++ b/notes.txt\n");
  await takeScreenshot(on.page, "question about a staged command");
  expect(await workspace.read("AGENTS.md")).toContain("brief");
  expect(existsSync(workspace.path("notes.txt"))).toBe(false);
  await on.repl.answer("yes");
  await on.repl.see("Done with it.");
  expect(await workspace.read("AGENTS.md")).toContain("kind");
  expect(on.complaints).toEqual([]);
});

test("a file is left out by its box: the rest is kept", async () => {
  const { workspace } = gennai();
  const before = await workspace.read("AGENTS.md");
  await using on = await openPage(gennai());
  await on.repl.send("again");
  await on.repl.question.waitFor();
  await on.repl.question.getByText("Choose among 3").click();
  await takeScreenshot(on.page, "question about parts of a staged command");
  await on.repl.question.getByRole("checkbox", { name: "AGENTS.md" }).uncheck();
  await on.repl.question.getByRole("checkbox", { name: "more.txt" }).uncheck();
  await on.repl.answer("yes");
  await on.repl.see("Done with that.");
  expect(await workspace.read("AGENTS.md")).toBe(before);
  expect(await workspace.read("less.txt")).toBe("1\n");
  expect(existsSync(workspace.path("more.txt"))).toBe(false);
  expect(on.complaints).toEqual([]);
});
