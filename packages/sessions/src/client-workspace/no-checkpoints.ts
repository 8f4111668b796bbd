import { CheckpointError } from "@gennai/store/checkpoints/checkpoint-error";
import type { TurnCheckpointsOptions } from "../checkpoints/turn-checkpoints.ts";

/**
 * In place of a workspace's checkpoints where a client holds the files: trees are kept by git on the server's disk, which has
 * none of them. What commands change there is for the client's own git to take back; change sets keep their bytes as always.
 */
export const noCheckpoints: TurnCheckpointsOptions["checkpoints"] = {
  problem: undefined,
  open: async () => {
    throw new CheckpointError("git_missing", "the client that holds the files keeps no trees of them.");
  },
  close: async () => [],
};
