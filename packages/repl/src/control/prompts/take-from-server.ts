import { Code, ConnectError } from "@connectrpc/connect";
import type { AgentClient } from "@gennai/client/connection/connection";
import { newPrompt, type Prompt } from "./prompt-queue.ts";

/**
 * The prompt as one that no server tells the model any more. One that was taken back is another message from then on, so that it may
 * be said again. Rejects as `WithdrawMessage` does; `isGone` of the error: a model was told it, or somebody else took it.
 */
export async function takeFromServer(
  agent: Pick<AgentClient, "withdrawMessage">,
  prompt: Prompt,
  options: { readonly signal: AbortSignal },
): Promise<Prompt> {
  const { id, text, images, context, sentTo } = prompt;
  if (sentTo === undefined) return prompt;
  try {
    await agent.withdrawMessage({ sessionId: sentTo, messageId: id }, options);
  } catch (error) {
    if (!neverArrived(error)) throw error;
  }
  return newPrompt(text, images, context);
}

export function isGone(error: unknown): boolean {
  return ConnectError.from(error).code === Code.AlreadyExists;
}

/** The server has no such message or session, or is older than such messages. */
function neverArrived(error: unknown): boolean {
  const { code } = ConnectError.from(error);
  return code === Code.NotFound || code === Code.Unimplemented;
}
