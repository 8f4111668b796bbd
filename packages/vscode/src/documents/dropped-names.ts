import * as vscode from "vscode";
import { nameOfUri } from "../editor/workspace-uri.ts";

/** Workspace paths of what was dragged from the explorer or from a desktop, without what is outside. @param root absolute */
export function namesOfDropped(root: string, uris: readonly string[]): readonly string[] {
  return (
    uris
      .map((text) => vscode.Uri.parse(text))
      // A window on another machine puts that machine into its URIs; for the extension there, these are files.
      .map((uri) => nameOfUri(root, uri.scheme === "vscode-remote" ? vscode.Uri.file(uri.path) : uri))
      .filter((name) => name !== undefined)
  );
}
