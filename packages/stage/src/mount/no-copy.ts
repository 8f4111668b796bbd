import { systemErrorCode } from "@gennai/machine/system-error";
import { errorMessage } from "@gennai/protocol/error-message";
import { StageUnavailable } from "../transaction/stage-error.ts";

/** The error for a root that cannot be copied. */
export function noCopyOf(root: string, reason: string, cause?: unknown): StageUnavailable {
  return new StageUnavailable(
    "copy_refused",
    `${root} cannot be copied for a command: ${reason}.`,
    "Put the workspace and GENNAI_STATE_DIR on ext4, xfs or btrfs with room to spare, where nothing has to be copied.",
    cause,
  );
}

/** Runs `work`, and adds to a system error of it that it prevents copies. @param root its real path */
export async function namingCopies<Value>(root: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    throw noCopyOf(root, errorMessage(error), error);
  }
}
