import type { AgentSession } from "@gennai/client/session/agent-session";
import { showInformation } from "../../editor/notifications.ts";
import type { Workbench } from "../../workbench.ts";

const callTimeoutMs = 30_000;

/**
 * Takes a change set back, the newest unless one is named: in the editor what this window applied, on the server what the
 * server wrote. Both check that no file changed since. Rejects with what stands against it.
 */
export async function revert(
  { changeSets }: Pick<Workbench, "changeSets">,
  session: AgentSession,
  changeSetId: string | undefined,
): Promise<void> {
  const signal = AbortSignal.timeout(callTimeoutMs);
  const files =
    changeSetId !== undefined && changeSets.has(changeSetId)
      ? await changeSets.revert(changeSetId, { signal })
      : (await session.undo({ signal, ...(changeSetId === undefined ? {} : { changeSetId }) })).files;
  void showInformation(`Taken back: ${files.map(({ path }) => path).join(", ")}`);
}
