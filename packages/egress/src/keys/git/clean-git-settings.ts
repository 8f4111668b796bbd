import { settingText } from "@gennai/git/run/setting-text";
import type { SettingEntries } from "./git-settings-of.ts";

/**
 * The settings that a git with a login reads in place of the repository's: the format of its data, its remotes, and which
 * branches track which. Excludes everything that names a program, a login, a proxy, a file, or another address, and refs to push
 * that the command does not name.
 *
 * @param remotes addresses by the names of remotes
 */
export function cleanGitSettings(entries: SettingEntries, remotes: ReadonlyMap<string, string>): string {
  const kept = entries.filter(
    ([name, value]) =>
      (shape.test(name) || follows.test(name) || fetches(name, value, remotes)) && !/[\n\0]/.test(name),
  );
  const addresses = [...remotes].map(([remote, address]) => [`remote.${remote}.url`, address] as const);
  return [...kept, ...addresses].map(([name, value]) => settingText(name, value)).join("");
}

const shape =
  /^(?:core\.(?:repositoryformatversion|bare|filemode|ignorecase|precomposeunicode|symlinks|logallrefupdates)|extensions\.objectformat)$/;
const follows = /^branch\..+\.(?:remote|merge)$/s;

/** True for refspecs by which a remote's state is noted. */
function fetches(name: string, value: string, remotes: ReadonlyMap<string, string>): boolean {
  const remote = /^remote\.(.+)\.fetch$/s.exec(name)?.[1];
  return remote !== undefined && remotes.has(remote) && /:refs\/remotes\//.test(value);
}
