import { keepLayer, listLayer } from "@gennai/client/session/layer";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import type { LayeredTree } from "@gennai/protocol/model/session/layer";
import { plural } from "@gennai/protocol/plural";
import * as vscode from "vscode";
import { askModally, showInformation } from "../../editor/notifications.ts";
import type { Command } from "../workbench.ts";

const callTimeoutMs = 60_000;

/**
 * Offers files that commands of the session made and git ignores, which only those commands see, and puts the chosen ones into
 * the folder, after showing what that would do.
 */
export const keepIgnored: Command = async ({ sessions, connect }) => {
  const { agent } = await connect();
  const { sessionId } = await sessions.open();
  const call = () => ({ signal: AbortSignal.timeout(callTimeoutMs) });
  const trees = await listLayer(agent, sessionId, call());
  if (trees.length === 0) {
    void showInformation("Commands of this session made nothing that git ignores.");
    return;
  }
  const chosen = await vscode.window.showQuickPick(trees.map(itemOf), {
    canPickMany: true,
    title: "Only commands of this session see these. Which do you want in your folder?",
    placeHolder: "Nothing is written before you saw what it would do",
  });
  if (chosen === undefined || chosen.length === 0) return;
  const paths = chosen.map(({ tree }) => tree.path);
  const seen = await keepLayer(agent, { sessionId, paths }, call());
  const what = `${plural(seen.files, "file")} of your folder ${seen.files === 1 ? "changes" : "change"}.`;
  const details = [...seen.paths, ...seen.reasons].map(spelledOut).join("\n");
  if ((await askModally(`Keep this? ${what}`, `${details}\n\nUndo removes it again.`, "Keep")) !== "Keep") return;
  const { kept } = await keepLayer(agent, { sessionId, paths, sha256: seen.sha256 }, call());
  void showInformation(
    kept ? `In your folder now: ${seen.paths.join(", ")}.` : "It has changed since, so nothing was kept. Look again.",
  );
};

function itemOf(tree: LayeredTree) {
  const { path, files, removed, command } = tree;
  const gone = removed === 0 ? "" : `, ${removed} removed`;
  return { label: path, description: `${plural(files, "file")}${gone}`, detail: spelledOut(command), tree };
}
