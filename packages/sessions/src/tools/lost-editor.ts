import { ToolFailure } from "@gennai/governance/tool-error";

/** True for a failure that says nothing about the file: the client could not answer, so the disk may. */
export function lostEditor(error: unknown): boolean {
  return error instanceof ToolFailure && (error.code === "client_error" || error.code === "client_timeout");
}
