import { hash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

/** Whose settings a file has, by the words of Claude Code's contract. */
type SettingsSource = "user_settings" | "project_settings";

interface SettingsFile {
  readonly source: SettingsSource;
  /** SHA-256 of its content: a change that is taken back is none. Empty: it cannot be read. */
  readonly stamp: string;
}

/** Rules that other agents read too. */
const sharedRules = join(".pi", "damage-control-rules.yaml");

interface SettingsPlaces {
  readonly configDir: string;
  readonly home: string;
  /** Of the project. */
  readonly root: string;
}

/** By their absolute path. */
export type SettingsFiles = ReadonlyMap<string, SettingsFile>;

/** Files of settings: the user's, and those of a project, with those that its rules and scenarios are read from. */
export async function settingsFiles({ configDir, home, root }: SettingsPlaces): Promise<SettingsFiles> {
  const files = new Map<string, SettingsFile>();
  const add = async (source: SettingsSource, path: string): Promise<void> => {
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile() !== true) return;
    const stamp = await readFile(path).then(
      (bytes) => hash("sha256", bytes),
      () => "",
    );
    files.set(path, { source, stamp });
  };
  const addAll = async (source: SettingsSource, directory: string): Promise<void> => {
    const names = await readdir(directory).catch(() => []);
    await Promise.all(names.map((name) => add(source, join(directory, name))));
  };
  await addAll("user_settings", configDir);
  await addAll("project_settings", join(root, ".gennai"));
  await addAll("project_settings", join(root, ".gennai", "scenarios"));
  await add("project_settings", join(root, ".mcp.json"));
  await add("project_settings", join(root, sharedRules));
  await add("user_settings", join(home, sharedRules));
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
