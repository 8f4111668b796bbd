import type { ContentSource } from "@gennai/client/review/change-content";
import { sha256Hex } from "@gennai/protocol/digest";
import * as vscode from "vscode";
import { uriInWorkspace } from "../editor/workspace-uri.ts";
import { columnBesideRepl } from "./beside-repl.ts";
import type { ContentDocuments } from "./content-documents.ts";
import { keptText } from "./kept-text.ts";

export interface AppliedChange {
  /** Path as the app sent it; not trusted. */
  readonly path: string;
  readonly beforeSha256: string | undefined;
  readonly afterSha256: string | undefined;
}

/**
 * Shows a change of a file in the editor's own diff, with both sides as the server kept them. If the file has not changed since,
 * the new side is the file itself, so that it can be edited. Throws if the texts cannot be loaded.
 */
export async function showAppliedChange(
  { path, beforeSha256, afterSha256 }: AppliedChange,
  place: {
    /** Loads the contents of both sides. */
    readonly source: ContentSource;
    readonly documents: ContentDocuments;
    readonly root: string;
  },
): Promise<void> {
  const { source, documents, root } = place;
  const [before, file] = await Promise.all([keptText(source, beforeSha256), fileAsLeft(root, path, afterSha256)]);
  const group = documents.group();
  const after = file ?? group.add(path, await keptText(source, afterSha256));
  const title = `${path} (${titles[beforeSha256 === undefined ? "added" : afterSha256 === undefined ? "deleted" : "changed"]})`;
  await vscode.commands.executeCommand("vscode.diff", group.add(path, before), after, title, {
    preview: true,
    viewColumn: columnBesideRepl(),
  });
}

const titles = { added: "added by Gennai", deleted: "deleted by Gennai", changed: "changed by Gennai" };

/** The file if its bytes have this digest; undefined if it is gone, outside of the workspace, or has changed. */
async function fileAsLeft(root: string, path: string, sha256: string | undefined): Promise<vscode.Uri | undefined> {
  if (sha256 === undefined) return undefined;
  try {
    const uri = await uriInWorkspace(root, path);
    return sha256Hex(await vscode.workspace.fs.readFile(uri)) === sha256 ? uri : undefined;
  } catch {
    return undefined;
  }
}
