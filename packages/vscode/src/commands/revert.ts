import type { AgentSession } from "@gennai/client/session/agent-session";
import { stayingLines } from "@gennai/client/session/checkpoints";
import type { SkippedFile } from "@gennai/protocol/model/session/checkpoint";
import * as vscode from "vscode";
import type { Overlap } from "../apply/overlap.ts";
import { keptText } from "../documents/kept-text.ts";
import { askForRest, mergeByHand, presentText } from "../documents/merge-by-hand.ts";
import { showInformation } from "../editor/notifications.ts";
import { uriInWorkspace } from "../editor/workspace-uri.ts";
import type { Workbench } from "./workbench.ts";

const callTimeoutMs = 30_000;

/**
 * Takes a change set back, by default the newest. What changed since on other lines stays, and is saved first: the server merges
 * what is on the disk. Asks about the rest if something stays as it is, and then lets the user merge what was changed on the same
 * lines. Rejects with what prevents it.
 */
export async function revert(
  workbench: Pick<Workbench, "documents" | "root" | "sessions">,
  session: AgentSession,
  changeSetId: string | undefined,
): Promise<void> {
  const signal = AbortSignal.timeout(callTimeoutMs);
  const { changeSets } = workbench.sessions.view;
  const known =
    changeSetId === undefined ? changeSets.at(-1) : changeSets.find((one) => one.changeSetId === changeSetId);
  for (const { path } of known?.files ?? []) await saveOpen(workbench.root, path);
  const planned = await session.undo({ signal, dryRun: true, ...(changeSetId === undefined ? {} : { changeSetId }) });
  const changed = known?.files ?? [];
  const rest = changed.filter(({ path }) => planned.skipped.every((skipped) => skipped.path !== path));
  const overlaps = await overlapsIn(planned.skipped, changed, session, workbench);
  if (planned.skipped.length > 0) {
    const others = planned.skipped.filter(({ path }) => overlaps.every((overlap) => overlap.path !== path));
    if (!(await askForRest("Undo", stayingLines(others))(overlaps, rest.length))) return;
  }
  if (overlaps.length === 0 || rest.length > 0) {
    const { files } = await session.undo({
      signal: AbortSignal.timeout(callTimeoutMs),
      changeSetId: planned.changeSetId,
      rest: planned.skipped.length > 0,
    });
    told(files);
  }
  await mergeByHand("Before Gennai", overlaps, workbench);
}

/** Of the files that an undo would leave as they are, those whose user changed the same lines and whose texts are kept. */
async function overlapsIn(
  skipped: readonly SkippedFile[],
  changed: readonly { readonly path: string; readonly beforeSha256?: string; readonly afterSha256?: string }[],
  session: AgentSession,
  { root }: Pick<Workbench, "root">,
): Promise<readonly Overlap[]> {
  const overlaps: Overlap[] = [];
  for (const { path, reason } of skipped) {
    const { beforeSha256, afterSha256 } = changed.find((file) => file.path === path) ?? {};
    if (reason !== "changed_since" || beforeSha256 === undefined || afterSha256 === undefined) continue;
    try {
      const [from, wanted] = await Promise.all([keptText(session, afterSha256), keptText(session, beforeSha256)]);
      overlaps.push({ path, from, wanted, present: await presentText(root, path) });
    } catch {
      // It is not kept any more, or is no text: it is named among what stays.
    }
  }
  return overlaps;
}

async function saveOpen(root: string, path: string): Promise<void> {
  const uri = (await uriInWorkspace(root, path)).toString();
  const document = vscode.workspace.textDocuments.find((one) => one.isDirty && one.uri.toString() === uri);
  if (document !== undefined && !(await document.save()))
    throw new Error(`${path} could not be saved, so nothing was undone.`);
}

function told(files: readonly { readonly path: string }[]): void {
  if (files.length > 0) void showInformation(`Undone: ${files.map(({ path }) => path).join(", ")}`);
}
