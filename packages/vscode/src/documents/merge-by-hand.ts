import { plural } from "@gennai/protocol/plural";
import * as vscode from "vscode";
import type { AskForRest, Overlap } from "../apply/overlap.ts";
import { askModally } from "../editor/notifications.ts";
import { uriInWorkspace } from "../editor/workspace-uri.ts";
import type { ContentDocuments } from "./content-documents.ts";

/**
 * Asks once about all that cannot be done at once.
 * @param verb what is done with the rest
 * @param stays lines about files that stay as they are and cannot be merged
 */
export function askForRest(verb: "Apply" | "Undo", stays: readonly string[] = []): AskForRest {
  return async (overlaps, rest) => {
    const button = rest > 0 ? (`${verb} the Rest` as const) : ("Merge by Hand" as const);
    if (rest === 0 && overlaps.length === 0) throw new Error(stays.join("\n"));
    const names = overlaps.map(({ path }) => `${path}: you changed the same lines`);
    const after =
      overlaps.length === 0 ? "" : "\n\nMerge that in the editor that opens: nothing is written before you save it.";
    const question =
      rest > 0
        ? `${verb} the other ${plural(rest, "file")}?`
        : `You changed the same lines of ${plural(overlaps.length, "file")}.`;
    return (await askModally(question, [...names, ...stays].join("\n") + after, button)) === button;
  };
}

/**
 * Opens each file in VS Code's merge editor, which writes nothing before its user saves it.
 * @param title of the side that is not the user's
 */
export async function mergeByHand(
  title: "Proposed" | "Before Gennai",
  overlaps: readonly Overlap[],
  { documents, root }: { readonly documents: ContentDocuments; readonly root: string },
): Promise<void> {
  for (const { path, from, wanted, present } of overlaps) {
    const group = documents.group();
    const file = await uriInWorkspace(root, path);
    const theirs = group.add(path, wanted);
    try {
      // VS Code has this command for its git extension; another version may not.
      await vscode.commands.executeCommand("_open.mergeEditor", {
        base: group.add(path, from),
        input1: { uri: group.add(path, present), title: "Yours" },
        input2: { uri: theirs, title },
        output: file,
      });
    } catch {
      await vscode.commands.executeCommand("vscode.diff", theirs, file, `${path} (merge by hand)`);
    }
  }
}

/** The text of a file, with unsaved changes. */
export async function presentText(root: string, path: string): Promise<string> {
  return (await vscode.workspace.openTextDocument(await uriInWorkspace(root, path))).getText();
}
