import { execFile } from "node:child_process";
import { existsSync, linkSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { hasCode } from "../../system-error.ts";
import { StageUnavailable } from "./stage-error.ts";
import { systemProgram } from "./system-program.ts";

/** A whiteout is made once, and has many names: Node cannot make one. */
export async function linkWhiteout(whiteout: string, path: string): Promise<void> {
  if (!existsSync(whiteout)) await makeWhiteout(whiteout);
  try {
    linkSync(whiteout, path);
  } catch (error) {
    // It has as many names as the file system lets a file have.
    if (!hasCode(error, "EMLINK")) throw error;
    rmSync(whiteout);
    await linkWhiteout(whiteout, path);
  }
}

/** Any user may make the device 0:0, which says to an overlay that a name is gone. */
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
