/**
 * Of a call on a server with one user: absolute path of the workspace that the client works in, as `encodeURIComponent` writes
 * it. What names no session is about it, in place of the server's default workspace.
 */
export const workspaceHeader = "gennai-workspace";

/** undefined for what no client of ours writes. */
export function readWorkspaceHeader(value: string): string | undefined {
  if (value === "" || value.length > longest) return undefined;
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

/** Characters, of a path in which each byte takes three. */
const longest = 12_288;
