import { join } from "node:path";
import { UnsafeRepository } from "../../git/run/confirmed-repository.ts";
import { git } from "../../git/run/run-git.ts";
import { noKey } from "../login/no-key.ts";
import { repositorySettings, type SettingEntries } from "./git-settings-of.ts";

/**
 * Settings that keep git out of a work tree's submodules: to examine one, git would start another git there, with the submodule's
 * settings. A submodule's own setting in `.gitmodules` overrides the general one; git also reads it from the index and the last
 * commit. Rejects with `ToolFailure` (`no_key`) if the repository cannot be confirmed.
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
