import { expect, test } from "vitest";
import { planOneFile } from "./plan-in-workbench.ts";
import { readabilityProblems } from "./readability.ts";
import { openRepl } from "./repl-in-workbench.ts";
import { useWorkbench } from "./use-workbench.ts";
import { everyTheme } from "./workbench.ts";

/** The offline assistant: it writes plans. */
const workbench = useWorkbench(() => ({ gennai: {} }));

test("something is planned, so that panels have something to show", async () => {
  const panel = await planOneFile(workbench(), "show the files of this workspace");
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
