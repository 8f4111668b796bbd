import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { AgentClient } from "../connection/connection.ts";

/** A directory, or a file, that git ignores and commands of a session changed; only later commands of it see that. */
export interface LayeredTree {
  /** Relative to the top of the work tree. */
  readonly path: string;
  readonly files: number;
  readonly bytes: number;
  /** What of the workspace it says is gone; a directory counts once. */
  readonly removed: number;
  /** Lower-case hex. */
  readonly sha256: string;
  /** That made it what it is. */
  readonly command: string;
  /** ISO 8601. */
  readonly at: string;
}

/** What keeping trees would do, or has done. */
export interface KeptTrees {
  readonly paths: readonly string[];
  /** Of the workspace that change. */
  readonly files: number;
  /** What rules ask a person about. */
  readonly reasons: readonly string[];
  /** Over all that would be kept. */
  readonly sha256: string;
  readonly kept: boolean;
}

interface CallOptions {
  readonly signal: AbortSignal;
}

export async function listLayer(
  client: Pick<AgentClient, "listLayer">,
  sessionId: string,
  { signal }: CallOptions,
): Promise<readonly LayeredTree[]> {
  const { trees } = await client.listLayer({ sessionId }, { signal });
  return trees.map(({ path, files, bytes, removed, sha256, command, time }) => ({
    path,
    files: Number(files),
    bytes: Number(bytes),
    removed: Number(removed),
    sha256,
    command,
    at: time === undefined ? "" : new Date(timestampMs(time)).toISOString(),
  }));
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
  const kept = await client.keepLayer({ sessionId, paths: [...paths], sha256 }, { signal });
  return {
    paths: kept.paths,
    files: Number(kept.files),
    reasons: kept.reasons,
    sha256: kept.sha256,
    kept: kept.kept,
  };
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
