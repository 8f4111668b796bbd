import { expect, test } from "vitest";
import { ReplDriver } from "../browser/repl-driver.ts";
import { scriptedFiles, scriptedWork } from "../browser/scripted-work.ts";
import { readabilityProblems } from "./readability.ts";
import { useWorkbench } from "./use-workbench.ts";
import { everyTheme } from "./workbench.ts";

const workbench = useWorkbench(() => ({
  gennai: { script: scriptedWork },
  files: scriptedFiles,
  settings: { "gennai.showThinking": true },
}));

test("a session begins on a branch of its own", async () => {
  await workbench().runCommand("Gennai: Open REPL");
  const repl = new ReplDriver(await workbench().webview("REPL"));
  await repl.send("look at the sum");
  await workbench().pick("Create ai-agent/look-at-the-sum");
  await repl.see("Looked.");
});

test.for(everyTheme)("in a %s theme the REPL is readable, with an answer, a question and a proposal", async (theme) => {
  await workbench().useTheme(theme);
  const repl = new ReplDriver(await workbench().webview("REPL"));
  await repl.beginSession();
  await repl.useEditingMode("branch");
  await repl.send("explain this project");
  await repl.see("What I found");
  await repl.idle();
  await workbench().screenshot(`look ${theme} answer`);
  const found = [...(await readabilityProblems(workbench()))];
  await repl.send("ask me");
  await repl.question.locator('button[aria-disabled="false"]').first().waitFor();
  await workbench().screenshot(`look ${theme} question`);
  found.push(...(await readabilityProblems(workbench())));
  await repl.answer("Deny");
  await repl.toNewest();
  await repl.see("You were asked.");
  await repl.useEditingMode("proposal");
  await repl.send("propose a change");
  await repl.toNewest();
  await repl.see("Proposed.");
  await repl.openPanel("Review");
  await repl.root
    .getByRole("button", { name: /^Keep all/ })
    .first()
    .waitFor();
  await workbench().screenshot(`look ${theme} review`);
  found.push(...(await readabilityProblems(workbench())));
  await repl.openPanel("Chat");
  expect(found).toEqual([]);
});
