import { Code, ConnectError } from "@connectrpc/connect";
import type { AgentClient, CallOptions } from "@gennai/client/connection/connection";
import { newPrompt, type Prompt } from "./prompt-queue.ts";

/**
 * Withdraws a prompt so that the server does not pass it to the model. It gets a new id, so that it can be sent again. Rejects as
 * `WithdrawMessage` does; if `isGone` is true of the error, the model already has it, or another client withdrew it.
 */
export async function takeFromServer(
  agent: Pick<AgentClient, "withdrawMessage">,
  prompt: Prompt,
  options: CallOptions,
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

/** True if the server has no such message or session, or is too old to have such messages. */
function neverArrived(error: unknown): boolean {
  const { code } = ConnectError.from(error);
  return code === Code.NotFound || code === Code.Unimplemented;
}
