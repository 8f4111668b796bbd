import { AxeBuilder } from "@axe-core/playwright";
import { standards } from "../browser/standards.ts";
import type { Workbench } from "./workbench.ts";

/** What stands against reading the REPL, in words: contrast, labels, order. */
export async function readabilityProblems({ page }: Workbench): Promise<readonly string[]> {
  const { violations } = await new AxeBuilder({ page })
    .include(["iframe.webview.ready", "iframe#active-frame", "#app"])
    .withTags(standards)
    .analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
}
