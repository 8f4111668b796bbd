import { realpath } from "node:fs/promises";
import type { FoundSymbol, FoundSymbols, SymbolRequest } from "@gennai/client/editor";
import * as vscode from "vscode";
import { nameInWorkspace, resolveInWorkspace } from "./workspace-paths.ts";

/** Symbols one answer holds. */
const most = 1000;

/**
 * Where names are declared, as the editor's language features know it: in one file, or in the whole workspace by part of
 * a name. Empty where no language feature answers. Throws `EditorError` for a path outside.
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
  const root = await realpath(workspace);
  const symbols =
    (await vscode.commands.executeCommand<vscode.SymbolInformation[] | undefined>(
      "vscode.executeWorkspaceSymbolProvider",
      query,
    )) ?? [];
  return symbols.flatMap(({ name, kind, containerName, location }) => {
    const path = location.uri.scheme === "file" ? nameInWorkspace(root, location.uri.fsPath) : undefined;
    if (path === undefined) return [];
    return [{ name, kind: nameOf(kind), path, line: location.range.start.line + 1, container: containerName }];
  });
}

async function ofFile(workspace: string, path: string, query: string): Promise<FoundSymbol[]> {
  const file = await resolveInWorkspace(workspace, path);
  const symbols =
    (await vscode.commands.executeCommand<(vscode.DocumentSymbol | vscode.SymbolInformation)[] | undefined>(
      "vscode.executeDocumentSymbolProvider",
      vscode.Uri.file(file.absolute),
    )) ?? [];
  const wanted = query.toLowerCase();
  const found: FoundSymbol[] = [];
  const visit = (symbol: vscode.DocumentSymbol | vscode.SymbolInformation, container: string): void => {
    const range = "location" in symbol ? symbol.location.range : symbol.selectionRange;
    if (symbol.name.toLowerCase().includes(wanted)) {
      const { name, kind } = symbol;
      const inside = "containerName" in symbol ? symbol.containerName : container;
      found.push({ name, kind: nameOf(kind), path, line: range.start.line + 1, container: inside });
    }
    if ("children" in symbol) for (const child of symbol.children) visit(child, symbol.name);
  };
  for (const symbol of symbols) visit(symbol, "");
  return found;
}

function nameOf(kind: vscode.SymbolKind): string {
  return (vscode.SymbolKind[kind] ?? "symbol").toLowerCase();
}
