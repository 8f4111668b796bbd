import type { RequestPermissionOutcome, RequestPermissionRequest } from "@agentclientprotocol/sdk";
import { fencedText } from "@gennai/client/session/text/fenced-text";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import type { WaitingMcpServer } from "./editor-mcp-servers.ts";

/** Asks whether a server that the editor named may start. */
export function mcpPermission({ name, described }: WaitingMcpServer, sessionId: string): RequestPermissionRequest {
  const text = [
    `Your editor names the MCP server ${spelledOut(name)}. It runs beside the model, and with your rights:`,
    fencedText(spelledOut(described)),
    "When it changes, you are asked again. Each of its tools still asks before its first call.",
  ].join("\n\n");
  return {
    sessionId,
    toolCall: {
      toolCallId: `mcp-${crypto.randomUUID()}`,
      title: `Accept the MCP server ${spelledOut(name)}`,
      kind: "execute",
      status: "pending",
      content: [{ type: "content", content: { type: "text", text } }],
    },
    options: [
      { optionId: "accept", name: "Accept it as it is now", kind: "allow_always" },
      { optionId: "leave", name: "Leave it out", kind: "reject_once" },
    ],
  };
}

export function acceptsServer(outcome: RequestPermissionOutcome): boolean {
  return outcome.outcome === "selected" && outcome.optionId === "accept";
}
