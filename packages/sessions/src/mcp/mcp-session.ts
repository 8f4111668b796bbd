import { McpSessionForgotten } from "./mcp-error.ts";

/** Does the work in a new session if the server has forgotten the present one. @param work connects, and asks the server */
export async function inSession<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof McpSessionForgotten) return work();
    throw error;
  }
}
