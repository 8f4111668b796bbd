import { execFile } from "node:child_process";
import { existsSync, linkSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { hasCode } from "@gennai/machine/system-error";
import { StageUnavailable } from "./stage-error.ts";
import { systemProgram } from "./system-program.ts";

/** Hard-links a name to one whiteout, which is made only once, because Node cannot make one. */
export async function linkWhiteout(whiteout: string, path: string | Buffer): Promise<void> {
  if (!existsSync(whiteout)) await makeWhiteout(whiteout);
  try {
    linkSync(whiteout, path);
  } catch (error) {
    // The whiteout has as many names as the file system allows.
    if (!hasCode(error, "EMLINK")) throw error;
    rmSync(whiteout);
    await linkWhiteout(whiteout, path);
  }
}

/** Makes the device 0:0, which tells an overlay that a name is gone. Any user may make it. */
async function makeWhiteout(path: string): Promise<void> {
  try {
    await promisify(execFile)(systemProgram("mknod"), [path, "c", "0", "0"], { env: {} });
  } catch (error) {
    if (error instanceof StageUnavailable) throw error;
    throw new StageUnavailable(
      "no_whiteouts",
      `The system lets no whiteout be made in ${dirname(path)}.`,
      "Use Linux 5.11 or newer, and put GENNAI_STATE_DIR on ext4, xfs or btrfs.",
      error,
    );
  }
}
