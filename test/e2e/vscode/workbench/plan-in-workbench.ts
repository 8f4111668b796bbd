import type { Locator } from "playwright-core";
import { openRepl } from "./repl-in-workbench.ts";
import type { Workbench } from "./workbench.ts";

/** Has the offline assistant plan to create one.txt, and asks for the approval. Gives the panel with it. */
export async function planOneFile(workbench: Workbench, prompt: string): Promise<Locator> {
  await workbench.workspace.git("checkout", "--quiet", "-b", "ai-agent/plan");
  const repl = await openRepl(workbench);
  await repl.send(prompt);
  await repl.idle();
  await repl.openPanel("Plan");
  const panel = repl.root.getByRole("region", { name: "Plan" });
  await panel.getByRole("textbox", { name: "What is to be planned" }).fill("create one.txt with x");
  await panel.getByRole("button", { name: "Plan", exact: true }).click();
  await panel.getByRole("button", { name: "Preview" }).click();
  await panel.getByRole("button", { name: "Approve…" }).click();
  return panel;
}
