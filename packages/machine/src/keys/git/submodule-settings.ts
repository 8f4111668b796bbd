import { join } from "node:path";
import { UnsafeRepository } from "../../git/run/confirmed-repository.ts";
import { git } from "../../git/run/run-git.ts";
import { noKey } from "../login/no-key.ts";
import { repositorySettings, type SettingEntries } from "./git-settings-of.ts";

/**
 * Keeps git out of the submodules of a work tree: to look into one, it would start another git there, by that one's own settings. What
 * `.gitmodules` says of each outranks what holds for all; git also takes it from the index, and from the last commit. Rejects with
 * `ToolFailure` (`no_key`) for a repository that cannot be trusted to be the one that it says.
 */
export async function submoduleSettings(workTree: string, signal: AbortSignal): Promise<SettingEntries> {
  const file = repositorySettings(join(workTree, ".gitmodules"), signal);
  const blobs = await Promise.all(
    [":.gitmodules", "HEAD:.gitmodules"].map((blob) =>
      git(["config", "--blob", blob, "--name-only", "-z", "--list"], { directory: workTree, signal }),
    ),
  ).catch((error: unknown) => {
    if (error instanceof UnsafeRepository) throw noKey(error.message);
    throw error;
  });
  const names = [...(await file).map(([name]) => name), ...blobs.flatMap(({ stdout }) => stdout.split("\0"))].flatMap(
    (name) => /^submodule\.(.+)\.[^.]+$/s.exec(name)?.[1] ?? [],
  );
  return [...new Set(names)].map((name) => [`submodule.${name}.ignore`, "dirty"] as const);
}
