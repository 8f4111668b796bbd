import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** Whose settings a file has, by the words of Claude Code's contract. */
type SettingsSource = "user_settings" | "project_settings";

interface SettingsFile {
  readonly source: SettingsSource;
  /** Another one after each change. */
  readonly stamp: string;
}

/** By their absolute path. */
export type SettingsFiles = ReadonlyMap<string, SettingsFile>;

/** Files of settings: the user's, and those of a project. Reads none of them. */
export async function settingsFiles(configDir: string, root: string): Promise<SettingsFiles> {
  const files = new Map<string, SettingsFile>();
  const add = async (source: SettingsSource, path: string): Promise<void> => {
    const found = await stat(path, { bigint: true }).catch(() => undefined);
    if (found?.isFile() !== true) return;
    files.set(path, { source, stamp: [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join() });
  };
  const addAll = async (source: SettingsSource, directory: string): Promise<void> => {
    const names = await readdir(directory).catch(() => []);
    await Promise.all(names.map((name) => add(source, join(directory, name))));
  };
  await addAll("user_settings", configDir);
  await addAll("project_settings", join(root, ".gennai"));
  await add("project_settings", join(root, ".mcp.json"));
  return files;
}

export interface ChangedSettings {
  readonly path: string;
  readonly source: SettingsSource;
}

/** Those that are new, gone or different. */
export function changedSettings(before: SettingsFiles, now: SettingsFiles): readonly ChangedSettings[] {
  return [...new Map([...before, ...now])]
    .filter(([path]) => before.get(path)?.stamp !== now.get(path)?.stamp)
    .map(([path, { source }]) => ({ path, source }));
}
