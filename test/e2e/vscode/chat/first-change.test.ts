import { readFile } from "node:fs/promises";
import { temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, inject, test } from "vitest";
import { ReplDriver } from "../../browser/page/repl-driver.ts";
import { tell } from "../fixtures/figures.ts";
import { picturedForWalkthrough } from "../workbench/pictured.ts";
import { startWorkbench, type WorkbenchOptions } from "../workbench/workbench.ts";

/** Seconds. */
async function timed<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly seconds: number }> {
  const began = performance.now();
  return { value: await work(), seconds: (performance.now() - began) / 1000 };
}

test("from the package to the first changed file it takes two clicks and one sentence", async () => {
  await using workspace = await temporaryRepository({ "colours.txt": "colour\n" });
  const options: WorkbenchOptions = { workspace };
  // The floor: a window of VS Code without us, until it is drawn.
  const bare = await timed(() => startWorkbench({ ...options, extensions: [] }));
  await bare.value[Symbol.asyncDispose]();

  const installed = await timed(() => startWorkbench({ ...options, vsix: inject("vsix") }));
  await using workbench = installed.value;
  let clicks = 0;
  const worked = await timed(async () => {
    clicks += 1;
    await workbench.page.getByRole("tab", { name: /^Gennai/ }).click();
    const repl = new ReplDriver(await workbench.webview("REPL"));
    await repl.send("replace colour with color in colours.txt");
    clicks += 1;
    await workbench.pick("Create ai-agent/replace-colour-with-color-in-colours-txt");
    await expect.poll(() => readFile(workspace.path("colours.txt"), "utf8"), { timeout: 90_000 }).toBe("color\n");
  });
  expect(clicks).toBe(2);
  await new ReplDriver(await workbench.webview("REPL")).idle();
  await picturedForWalkthrough(workbench);
  tell(
    {
      name: "install the VSIX, open a window (floor: a window without it)",
      unit: "s",
      floor: bare.seconds,
      figure: installed.seconds,
      target: { type: "none" },
    },
    {
      name: "from the VSIX to the first changed file, 2 clicks (floor: a window without it)",
      unit: "s",
      floor: bare.seconds,
      figure: installed.seconds + worked.seconds,
      target: { type: "most", value: 30 },
    },
  );
});
