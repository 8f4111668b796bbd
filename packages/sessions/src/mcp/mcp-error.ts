/** An MCP server could not be reached, or broke off. */
export class McpError extends Error {
  override readonly name: string = "McpError";
  readonly code = "mcp_unavailable";
}

/**
 * The server no longer knows the session, and did nothing with the request. The specification (basic/transports, Session
 * Management) then wants a new session.
 */
export class McpSessionForgotten extends McpError {
  override readonly name = "McpSessionForgotten";
}
