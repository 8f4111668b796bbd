import type { AgentSession } from "@gennai/client/session/agent-session";
import { stayingLines } from "@gennai/client/session/checkpoints";
import { askModally, showInformation } from "../../editor/notifications.ts";
import type { Workbench } from "../../workbench.ts";

const callTimeoutMs = 30_000;

/**
 * Reverts a change set, by default the newest: in the editor if this window applied it, on the server if the server wrote it.
 * Neither overwrites what changed since. Asks first if something stays as it is. Rejects with what prevents it.
 */
export async function revert(
  { changeSets }: Pick<Workbench, "changeSets">,
  session: AgentSession,
  changeSetId: string | undefined,
): Promise<void> {
  const signal = AbortSignal.timeout(callTimeoutMs);
  if (changeSetId !== undefined && changeSets.has(changeSetId)) {
    return told(await changeSets.revert(changeSetId, { signal }));
  }
  const planned = await session.undo({ signal, dryRun: true, ...(changeSetId === undefined ? {} : { changeSetId }) });
  const stays = stayingLines(planned.skipped).join("\n");
  if (stays !== "" && (await askModally("Take the rest back?", stays, "Undo")) !== "Undo") return;
  const { files } = await session.undo({
    signal: AbortSignal.timeout(callTimeoutMs),
    changeSetId: planned.changeSetId,
    rest: stays !== "",
  });
  told(files);
}

function told(files: readonly { readonly path: string }[]): void {
  void showInformation(`Taken back: ${files.map(({ path }) => path).join(", ")}`);
}
