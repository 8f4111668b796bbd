import { CheckpointError } from "@gennai/store/checkpoints/snapshot/checkpoint-error";
import type { TurnCheckpointsOptions } from "./turn-checkpoints.ts";

/**
 * Replaces checkpoints if a client holds the files: git on the server's disk would keep the trees, but the files are not there.
 * The client's own git must undo what commands change; change sets keep their bytes as always.
 */
export const noCheckpoints: TurnCheckpointsOptions["checkpoints"] = {
  problem: undefined,
  open: async () => {
    throw new CheckpointError("git_missing", "the client that holds the files keeps no trees of them.");
  },
  close: async () => [],
};
