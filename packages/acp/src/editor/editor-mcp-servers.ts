import type { McpServer } from "@agentclientprotocol/sdk";

/** MCP servers that an editor names. None starts before a person accepted it as it is. */
export interface EditorMcpServers {
  /**
   * Makes them known for a directory, in place of those named before. Rejects with what cannot be taken.
   * @param workingDir absolute, real
   */
  offer(workingDir: string, servers: readonly McpServer[]): Promise<readonly WaitingMcpServer[]>;
  /** Rejects when the server is another one by now. */
  accept(workingDir: string, server: WaitingMcpServer): Promise<void>;
}

/** A server that waits for a person's word. */
export interface WaitingMcpServer {
  readonly name: string;
  /** Of what is shown, and of what would start. */
  readonly digest: string;
  /** All that it would run and be given, in lines; untrusted text. */
  readonly described: string;
}
