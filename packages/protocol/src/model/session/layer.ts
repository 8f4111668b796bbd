import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type {
  KeepLayerResponse,
  KeepLayerResponseSchema,
  LayeredTree as LayeredTreeMessage,
  LayeredTreeSchema,
} from "../../gen/gennai/agent/v1/agent_pb.ts";

/** A directory, or a file, that git ignores and commands of a session changed; only later commands of it see that. */
export interface LayeredTree {
  /** Relative to the top of the work tree. */
  readonly path: string;
  readonly files: number;
  readonly bytes: number;
  /** What of the workspace it says is gone; a directory counts once. */
  readonly removed: number;
  /** Over paths, modes and contents, lower-case hex. */
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
  /** What rules ask a person about; empty when no rule asks. */
  readonly reasons: readonly string[];
  /** Over all that would be kept; what is said to be kept has to have it. */
  readonly sha256: string;
  readonly kept: boolean;
}

export function layeredTreeToMessage(tree: LayeredTree): MessageInitShape<typeof LayeredTreeSchema> {
  const { path, files, bytes, removed, sha256, command, at } = tree;
  const time = timestampFromMs(Date.parse(at));
  return { path, files: BigInt(files), bytes: BigInt(bytes), removed: BigInt(removed), sha256, command, time };
}

export function layeredTreeFromMessage(message: LayeredTreeMessage): LayeredTree {
  const { path, files, bytes, removed, sha256, command, time } = message;
  const at = time === undefined ? "" : new Date(timestampMs(time)).toISOString();
  return { path, files: Number(files), bytes: Number(bytes), removed: Number(removed), sha256, command, at };
}

export function keptTreesToMessage(trees: KeptTrees): MessageInitShape<typeof KeepLayerResponseSchema> {
  const { paths, files, reasons, sha256, kept } = trees;
  return { paths: [...paths], files: BigInt(files), reasons: [...reasons], sha256, kept };
}

export function keptTreesFromMessage(message: KeepLayerResponse): KeptTrees {
  const { paths, files, reasons, sha256, kept } = message;
  return { paths, files: Number(files), reasons, sha256, kept };
}
