import type { FoundSymbol, FoundSymbols, SymbolRequest } from "@gennai/protocol/model/session/editor-requests";
import * as vscode from "vscode";
import { realPathOf } from "./real-path.ts";
import { resolveInWorkspace } from "./workspace-paths.ts";
import { nameOfUri, uriOf } from "./workspace-uri.ts";

/** Most symbols in one answer. */
const most = 1000;

/**
 * Where names are declared, by the editor's language features: in one file, or in the whole workspace by part of a name. Empty if
 * no language feature answers. Rejects with `EditorError` for a path outside of the workspace.
 */
export async function findSymbols(
  workspace: string,
  { query, path }: SymbolRequest,
  { signal }: { readonly signal: AbortSignal },
): Promise<FoundSymbols> {
  const found = path === "" ? await ofWorkspace(workspace, query) : await ofFile(workspace, path, query);
  signal.throwIfAborted();
  return { symbols: found.slice(0, most), truncated: found.length > most };
}

async function ofWorkspace(workspace: string, query: string): Promise<FoundSymbol[]> {
  const root = await realPathOf(workspace);
  const symbols =
    (await vscode.commands.executeCommand<vscode.SymbolInformation[] | undefined>(
      "vscode.executeWorkspaceSymbolProvider",
      query,
    )) ?? [];
  return symbols.flatMap(({ name, kind, containerName, location }) => {
    const path = nameOfUri(root, location.uri);
    if (path === undefined) return [];
    return [{ name, kind: nameOf(kind), path, line: location.range.start.line + 1, container: containerName }];
  });
}

async function ofFile(workspace: string, path: string, query: string): Promise<FoundSymbol[]> {
  const file = await resolveInWorkspace(workspace, path);
  const symbols =
    (await vscode.commands.executeCommand<readonly EitherSymbol[] | undefined>(
      "vscode.executeDocumentSymbolProvider",
      uriOf(file.absolute),
    )) ?? [];
  const wanted = query.toLowerCase();
  const found: FoundSymbol[] = [];
  const visit = (symbol: EitherSymbol, container: string): void => {
    const { name, kind } = symbol;
    // The position of the name, not of the comment above the declaration.
    const range = symbol.selectionRange ?? symbol.location.range;
    if (name.toLowerCase().includes(wanted)) {
      const inside = symbol.containerName === "" ? container : symbol.containerName;
      found.push({ name, kind: nameOf(kind), path, line: range.start.line + 1, container: inside });
    }
    for (const child of symbol.children ?? []) visit(child, name);
  };
  for (const symbol of symbols) visit(symbol, "");
  return found;
}

/** The command's result: a `SymbolInformation`, with the fields of a `DocumentSymbol` if the language feature gave those. */
type EitherSymbol = vscode.SymbolInformation & {
  readonly selectionRange?: vscode.Range;
  readonly children?: readonly EitherSymbol[];
};

function nameOf(kind: vscode.SymbolKind): string {
  return (vscode.SymbolKind[kind] ?? "symbol").toLowerCase();
}
