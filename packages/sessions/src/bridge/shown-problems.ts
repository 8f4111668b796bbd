import { isZeroAccess } from "@gennai/governance/policies/files/secrets";
import type { Diagnostic } from "@gennai/protocol/model/session/editor-requests";

/** Hides diagnostics of files that the agent may not read: they could quote them. */
export function isShown({ path, severity }: Diagnostic): boolean {
  return isShownPath(path) && (severity === "error" || severity === "warning");
}

/** Whether an editor's words about a file are shown: it is in the workspace, and the agent may read it. */
export function isShownPath(path: string): boolean {
  const outside = path === "" || path.startsWith("/") || path.split(/[\\/]/).includes("..") || /^[a-z]+:/i.test(path);
  return !outside && !isZeroAccess(path);
}

export function problemLine({ path, line, column, severity, message, source }: Diagnostic): string {
  const text = message.replaceAll(/[\s\p{Cc}]+/gu, " ").slice(0, 500);
  return `${path}:${line}:${column} ${severity}: ${text}${source === "" ? "" : ` (${source.slice(0, 40)})`}`;
}
