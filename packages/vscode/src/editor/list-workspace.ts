import type { WorkspaceListing } from "@gennai/client/bridge/editor";
import * as vscode from "vscode";
import { realPathOf } from "./real-path.ts";
import { resolveInWorkspace } from "./workspace-paths.ts";
import { nameOfUri, uriOf } from "./workspace-uri.ts";

/** Paths one answer holds. */
const most = 5000;

/** The files below a directory of the workspace as the editor shows them: without what `files.exclude` hides. */
export async function listWorkspace(
  workspace: string,
  path: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<WorkspaceListing> {
  const directory = await resolveInWorkspace(workspace, path === "" ? "." : path);
  const root = await realPathOf(workspace);
  const cancellation = new vscode.CancellationTokenSource();
  const cancel = () => cancellation.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const pattern = new vscode.RelativePattern(uriOf(directory.absolute), "**/*");
    const found = await vscode.workspace.findFiles(pattern, undefined, most + 1, cancellation.token);
    signal.throwIfAborted();
    const paths = found.flatMap((uri) => nameOfUri(root, uri) ?? []).sort();
    return { paths: paths.slice(0, most), truncated: paths.length > most };
  } finally {
    signal.removeEventListener("abort", cancel);
    cancellation.dispose();
  }
}
