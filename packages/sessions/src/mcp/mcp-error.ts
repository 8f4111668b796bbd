/** An MCP server could not be reached, or broke off. */
export class McpError extends Error {
  override readonly name = "McpError";
  readonly code = "mcp_unavailable";
}
