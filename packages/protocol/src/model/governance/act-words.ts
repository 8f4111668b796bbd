/**
 * What a ledger record of a person's act says in words; empty for one that is no such act. Acts change what governs a workspace:
 * intents, hooks, MCP servers, lasting answers, guards.
 *
 * @param details of the record; nothing in it is masked for a terminal
 */
export function actWords(details: Readonly<Record<string, unknown>>): string {
  const what = whatOf(details);
  const { by, via } = details;
  if (what === "" || typeof by !== "string" || by === "") return what;
  return `${what}, by ${by}${typeof via === "string" ? ` (${via})` : ""}`;
}

function whatOf(details: Readonly<Record<string, unknown>>): string {
  const { intents_mode: mode, intents_mode_before: before } = details;
  if (typeof mode === "string") return `intents ${mode}, before ${String(before)}`;
  const { intents_accepted: intents, hooks_trusted: hooks, mcp_accepted: server } = details;
  if (typeof intents === "string") return `intents file accepted (SHA-256 ${intents.slice(0, 12)}…)`;
  if (typeof hooks === "string") return `hooks file trusted (SHA-256 ${hooks.slice(0, 12)}…)`;
  if (typeof server === "string") return `MCP server ${server} accepted`;
  const { mcp_login: login, mcp_logout: logout, mcp_url: url } = details;
  if (typeof login === "string") return `logged in at the MCP server ${login} (${String(url)})`;
  if (typeof logout === "string") return `logged out at the MCP server ${logout} (${String(url)})`;
  const { answers_allowed: allowed, answers_revoked: revoked } = details;
  if (Array.isArray(allowed)) return `lasting answer given ahead: ${allowed.map(String).join("; ")}`;
  if (Array.isArray(revoked)) return `lasting answer revoked: ${revoked.map(String).join("; ")}`;
  const { guard_uninstalled: agent, file } = details;
  if (typeof agent === "string") return `guard of ${agent} taken away from ${String(file)}`;
  return "";
}
