import { connectGovernance } from "@gennai/client/connection/connection";
import { expect, test } from "vitest";
import { HookedAgent } from "../../governance/guard/hooked-agent.ts";
import { openFile } from "../workbench/editor-pane.ts";
import { patience } from "../workbench/patience.ts";
import { openRepl } from "../workbench/repl-in-workbench.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";

const workbench = useWorkbench(() => ({ files: { "a.txt": "one\ntwo\nthree\n" }, gennai: {} }));

test("what another agent changed under the guard is marked in its file, and can be taken back there", async () => {
  const { page, workspace, gennai } = workbench();
  await openRepl(workbench());
  const governance = connectGovernance({ baseUrl: gennai.url, token: gennai.token });
  const agent = new HookedAgent({ workspace, governance });
  await workspace.git("switch", "--quiet", "--create", "theirs");
  const { id, says } = await agent.wants("Edit", {
    file_path: workspace.path("a.txt"),
    old_string: "two",
    new_string: "TWO",
  });
  expect(says).toBe("goes its own way");
  await workspace.write("a.txt", "one\nTWO\nthree\n");
  await agent.did(id);
  await openFile(page, "a.txt");
  const undo = page.locator(".editor-instance .codelens-decoration a").filter({ hasText: /^Undo/ }).first();
  await undo.waitFor();
  await workbench().screenshot("guarded agent's change");
  await undo.click();
  await expect
    .poll(() => page.locator(".editor-instance .view-lines").textContent(), { timeout: patience })
    .toContain("two");
});
