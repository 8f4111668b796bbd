import { ToolFailure } from "@gennai/governance/tool-error";
import type { EditorRequestKind } from "@gennai/protocol/model/session/editor-messages";
import type { EditorBridge } from "../bridge/session-bridge.ts";

/** Throws where no client is attached that could: nobody waits for one. @param does e.g. `run commands in a terminal` */
export function requireEditor(editor: EditorBridge, kind: EditorRequestKind, does: string, hint: string): void {
  if (editor.can(kind)) return;
  throw new ToolFailure("tool_unavailable", `No attached client can ${does}.`, {
    failureClass: "tool_unavailable",
    hint,
  });
}

/** True for a failure of the client, not of the file: then the file can be read from disk. */
export function lostEditor(error: unknown): boolean {
  return error instanceof ToolFailure && (error.code === "client_error" || error.code === "client_timeout");
}
