import {
  type KeptTrees,
  keptTreesFromMessage,
  type LayeredTree,
  layeredTreeFromMessage,
} from "@gennai/protocol/model/session/layer";
import type { AgentClient, CallOptions } from "../connection/connection.ts";

export async function listLayer(
  client: Pick<AgentClient, "listLayer">,
  sessionId: string,
  { signal }: CallOptions,
): Promise<readonly LayeredTree[]> {
  const { trees } = await client.listLayer({ sessionId }, { signal });
  return trees.map(layeredTreeFromMessage);
}

/**
 * Puts trees into the workspace, where rules let it. Throws `ConnectError`; its `ErrorInfo` says why and what to do.
 * @param sha256 of the answer in which a person saw what would be kept; without it, only that is said
 */
export async function keepLayer(
  client: Pick<AgentClient, "keepLayer">,
  {
    sessionId,
    paths,
    sha256 = "",
  }: { readonly sessionId: string; readonly paths: readonly string[]; readonly sha256?: string },
  { signal }: CallOptions,
): Promise<KeptTrees> {
  return keptTreesFromMessage(await client.keepLayer({ sessionId, paths: [...paths], sha256 }, { signal }));
}

/** Gives trees up, or all. @returns their paths */
export async function dropLayer(
  client: Pick<AgentClient, "dropLayer">,
  { sessionId, paths }: { readonly sessionId: string; readonly paths: readonly string[] },
  { signal }: CallOptions,
): Promise<readonly string[]> {
  const { paths: dropped } = await client.dropLayer({ sessionId, paths: [...paths] }, { signal });
  return dropped;
}
