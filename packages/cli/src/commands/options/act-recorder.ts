import { userInfo } from "node:os";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { type GoverningAct, recordAct } from "@gennai/store/ledger/persons-ledger";
import type { Console } from "../../terminal/console.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { version } from "../../terminal/version.ts";

/**
 * Gives a function that records what the user of this program decides about a workspace, with their user name, before it takes
 * effect. The function rejects with `StoreError` if nothing can be recorded.
 */
export function actRecorder(
  workspaceRoot: string,
  console: Console,
  via: "cli" | "acp" = "cli",
): (act: GoverningAct) => Promise<void> {
  return (act) =>
    recordAct(
      { ...act, by: userInfo().username, via },
      {
        stateDir: defaultStateDir(console.environment),
        workspaceRoot,
        toolVersion: version,
        onWarning: (text) => void console.errors.write(`warning: ${terminalSafe(text)}\n`),
      },
    );
}
