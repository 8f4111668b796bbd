import { ReplDriver } from "../../browser/page/repl-driver.ts";
import type { Workbench } from "./workbench.ts";

/** Opens the REPL in the side bar, as a user does. */
export async function openRepl(workbench: Workbench): Promise<ReplDriver> {
  await workbench.runCommand("Gennai: Open REPL");
  return new ReplDriver(await workbench.webview("REPL"));
}
