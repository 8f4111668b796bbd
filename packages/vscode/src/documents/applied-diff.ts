import type { ContentSource } from "@gennai/client/review/proposed-text";
import { sha256Hex } from "@gennai/protocol/digest";
import * as vscode from "vscode";
import { uriInWorkspace } from "../editor/paths/workspace-uri.ts";
import { columnBesideRepl } from "./beside-repl.ts";
import type { ContentDocuments } from "./content-documents.ts";
import { sessionText } from "./session-text.ts";

export interface AppliedChange {
  /** Path as sent by the app; not trusted. */
  readonly path: string;
  readonly beforeSha256: string | undefined;
  readonly afterSha256: string | undefined;
}

/**
 * Shows what was changed in a file in the editor's own diff: both sides as the server kept them. Where the file is still as it was left, its
 * side is the file itself, to be worked on. Throws when the texts cannot be had.
 */
export async function showAppliedChange(
  { path, beforeSha256, afterSha256 }: AppliedChange,
  place: {
    /** Where the contents of both sides come from. */
    readonly source: ContentSource;
    readonly documents: ContentDocuments;
    readonly root: string;
  },
): Promise<void> {
  const { source, documents, root } = place;
  const text = (sha256: string | undefined) => (sha256 === undefined ? "" : sessionText(source, sha256));
  const [before, file] = await Promise.all([text(beforeSha256), fileAsLeft(root, path, afterSha256)]);
  const group = documents.group();
  const after = file ?? group.add(path, await text(afterSha256));
  const title = `${path} (${titles[beforeSha256 === undefined ? "added" : afterSha256 === undefined ? "deleted" : "changed"]})`;
  await vscode.commands.executeCommand("vscode.diff", group.add(path, before), after, title, {
    preview: true,
    viewColumn: columnBesideRepl(),
  });
}

const titles = { added: "added by Gennai", deleted: "deleted by Gennai", changed: "changed by Gennai" };

/** The file, if its bytes are those; undefined when it is gone, outside of the workspace, or moved on. */
async function fileAsLeft(root: string, path: string, sha256: string | undefined): Promise<vscode.Uri | undefined> {
  if (sha256 === undefined) return undefined;
  try {
    const uri = await uriInWorkspace(root, path);
    return sha256Hex(await vscode.workspace.fs.readFile(uri)) === sha256 ? uri : undefined;
  } catch {
    return undefined;
  }
}
