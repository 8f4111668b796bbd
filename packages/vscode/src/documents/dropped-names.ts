import * as vscode from "vscode";
import { nameOfUri } from "../editor/paths/workspace-uri.ts";

/** Workspace paths of what was dragged from the explorer or from a desktop; what lies elsewhere is left out. @param root absolute */
export function namesOfDropped(root: string, uris: readonly string[]): readonly string[] {
  return (
    uris
      .map((text) => vscode.Uri.parse(text))
      // A window on another machine names its files by that machine; here they are files.
      .map((uri) => nameOfUri(root, uri.scheme === "vscode-remote" ? vscode.Uri.file(uri.path) : uri))
      .filter((name) => name !== undefined)
  );
}
