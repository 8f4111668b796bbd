import { textWithoutNul } from "@gennai/protocol/diff/utf8-text";
import * as vscode from "vscode";
import { uriInWorkspace } from "../editor/workspace-uri.ts";
import { columnBesideRepl } from "./beside-repl.ts";
import type { ContentDocuments } from "./content-documents.ts";
import { sidesOfDiff } from "./unified-diff.ts";

/** Shows what a question would have kept in the editor's own diff. False if the text is no whole diff: then it is shown as a text. */
export async function showQuestionDiff(
  diff: string,
  { root, documents }: { readonly root: string; readonly documents: ContentDocuments },
): Promise<boolean> {
  const textOf = async (path: string): Promise<string | undefined> => {
    try {
      return textWithoutNul(await vscode.workspace.fs.readFile(await uriInWorkspace(root, path)));
    } catch {
      return undefined;
    }
  };
  const sides = await sidesOfDiff(diff, textOf);
  if (sides === undefined) return false;
  const group = documents.group();
  const resources = sides.map(({ path, before, after }) => [group.add(path, before), group.add(path, after)] as const);
  const [first] = resources;
  if (resources.length === 1 && first !== undefined) {
    const title = `${sides[0]?.path ?? ""} (would be kept)`;
    await vscode.commands.executeCommand("vscode.diff", ...first, title, {
      preview: true,
      preserveFocus: true,
      viewColumn: columnBesideRepl(),
    });
  } else {
    const files = resources.map(([before, after]) => [after, before, after]);
    await vscode.commands.executeCommand("vscode.changes", "What would be kept", files);
  }
  return true;
}
