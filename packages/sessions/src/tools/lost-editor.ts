import { ToolFailure } from "@gennai/governance/tool-error";

/** True for a failure of the client, not of the file: then the file can be read from disk. */
export function lostEditor(error: unknown): boolean {
  return error instanceof ToolFailure && (error.code === "client_error" || error.code === "client_timeout");
}
