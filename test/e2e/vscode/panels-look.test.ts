import { expect, test } from "vitest";
import { readabilityProblems } from "./readability.ts";
import { openRepl } from "./repl-in-workbench.ts";
import { useWorkbench } from "./use-workbench.ts";
import { everyTheme } from "./workbench.ts";

/** The offline assistant: it writes plans. */
const workbench = useWorkbench(() => ({ gennai: {} }));

test("something is planned, so that panels have something to show", async () => {
  await workbench().workspace.git("checkout", "--quiet", "-b", "ai-agent/plan");
  const repl = await openRepl(workbench());
  await repl.send("show the files of this workspace");
  await repl.idle();
  await repl.openPanel("Plan");
  const panel = repl.root.getByRole("region", { name: "Plan" });
  await panel.getByRole("textbox", { name: "What is to be planned" }).fill("create one.txt with x");
  await panel.getByRole("button", { name: "Plan", exact: true }).click();
  await panel.getByRole("button", { name: "Preview" }).click();
  await panel.getByRole("button", { name: "Approve…" }).click();
  await panel.locator(".plan-approval").getByRole("checkbox").first().waitFor();
});

/** A panel, and what it has once it is filled. */
const panels = [
  ["Plan", "The offline assistant plans to create one.txt."],
  ["Governance", "Emergency controls"],
  ["Timeline", "Not verified yet."],
] as const;

test.for(everyTheme)("in a %s theme plan, governance and timeline are readable", async (theme) => {
  await workbench().useTheme(theme);
  const repl = await openRepl(workbench());
  const found: string[] = [];
  for (const [name, content] of panels) {
    await repl.openPanel(name);
    await repl.root.getByText(content).first().waitFor();
    await workbench().screenshot(`look ${theme} ${name}`);
    found.push(...(await readabilityProblems(workbench())));
  }
  expect(found).toEqual([]);
});
