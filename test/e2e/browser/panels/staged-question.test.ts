import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { serveGennai } from "../../process/serve-gennai.ts";
import { openPage } from "../page/open-page.ts";
import { takeScreenshot } from "../page/screenshot.ts";

test("what a command has changed is read before it is kept, and a yes keeps exactly that", async () => {
  await using gennai = await serveGennai({
    files: {
      "src/add.ts": "export function add(a: number, b: number) {\n  return a + b;\n}\n",
      "AGENTS.md": "# Notes\n\nBe brief.\n",
    },
    script: [
      {
        steps: [
          { tool: { name: "Bash", args: { command: "sed -i s/brief/kind/ AGENTS.md && echo 1 > notes.txt" } } },
          { text: ["Done with it."] },
        ],
      },
    ],
    args: ["--sandbox", "required"],
  });
  await using on = await openPage(gennai);
  await on.repl.send("tidy up");
  await on.repl.question.waitFor();
  const shown = await on.repl.question.getByLabel("What would be kept").textContent();
  expect(shown).toContain("-Be brief.\n+Be kind.\n");
  expect(shown).toContain("+++ b/notes.txt\n");
  await takeScreenshot(on.page, "question about a staged command");
  expect(await gennai.workspace.read("AGENTS.md")).toContain("brief");
  expect(existsSync(gennai.workspace.path("notes.txt"))).toBe(false);
  await on.repl.answer("Allow once");
  await on.repl.see("Done with it.");
  expect(await gennai.workspace.read("AGENTS.md")).toContain("kind");
  expect(on.complaints).toEqual([]);
});

test("a file is left out by its box: the rest is kept", async () => {
  await using gennai = await serveGennai({
    files: { "AGENTS.md": "Be brief.\n" },
    script: [
      {
        steps: [
          { tool: { name: "Bash", args: { command: "echo no > AGENTS.md; echo 1 > notes.txt; echo 2 > more.txt" } } },
          { text: ["Done with it."] },
        ],
      },
    ],
    args: ["--sandbox", "required"],
  });
  await using on = await openPage(gennai);
  await on.repl.send("tidy up");
  await on.repl.question.waitFor();
  await takeScreenshot(on.page, "question about parts of a staged command");
  await on.repl.question.getByRole("checkbox", { name: "AGENTS.md" }).uncheck();
  await on.repl.question.getByRole("checkbox", { name: "more.txt" }).uncheck();
  await on.repl.answer("Keep what is ticked");
  await on.repl.see("Done with it.");
  expect(await gennai.workspace.read("AGENTS.md")).toBe("Be brief.\n");
  expect(await gennai.workspace.read("notes.txt")).toBe("1\n");
  expect(existsSync(gennai.workspace.path("more.txt"))).toBe(false);
  expect(on.complaints).toEqual([]);
});
