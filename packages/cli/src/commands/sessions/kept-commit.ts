import { git } from "@gennai/git/run/run-git";
import { sha256Hex } from "@gennai/protocol/digest";
import type { AppliedFile } from "@gennai/protocol/model/session/proposal";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { describeNames } from "./undo-text.ts";

/** A line about the commit that still holds what was taken back, with what takes it back there; "" without one. Never rejects. */
export async function describeCommit(directory: string, files: readonly AppliedFile[]): Promise<string> {
  for (const { path, beforeSha256 } of files.slice(0, 20)) {
    const run = (...args: string[]) => git(args, { directory }).catch(() => ({ code: 1, stdout: "" }));
    const { code, stdout } = await run("cat-file", "blob", `HEAD:./${path}`);
    const isHeld = code === 0 ? sha256Hex(stdout) === beforeSha256 : beforeSha256 === undefined;
    const commit = isHeld ? (await run("log", "-1", "--format=%h (%s)", "--", path)).stdout.trim() : "";
    if (commit === "") continue;
    const names = describeNames(files.map((file) => file.path));
    const next = `git add --all ${names} && git commit --message "Undo ${commit.split(" ")[0]}"`;
    return `Commit ${terminalSafe(commit)} stays. To undo it too: ${next}\n`;
  }
  return "";
}
