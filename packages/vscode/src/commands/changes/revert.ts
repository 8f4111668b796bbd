import type { AgentSession } from "@gennai/client/session/agent-session";
import { showInformation } from "../../editor/notifications.ts";
import type { Workbench } from "../../workbench.ts";

const callTimeoutMs = 30_000;

/**
 * Reverts a change set, by default the newest: in the editor if this window applied it, on the server if the server wrote it.
 * Both check that no file has changed since. Rejects with what prevents it.
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
