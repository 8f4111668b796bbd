import { gitEnvironment } from "@gennai/git/run/git-environment";
import { machineGit } from "@gennai/git/run/machine-git";
import { runUserProgram } from "../login/run-user-program.ts";

/** Names, lower-case except for the middle part, and values; in their order. */
export type SettingEntries = readonly (readonly [name: string, value: string])[];

/** The user's own git settings, which alone decide how the user logs in. Empty if there are none. */
export function userGitSettings(signal: AbortSignal): Promise<SettingEntries> {
  return listed(["--global", "--includes"], signal);
}

/** A repository's settings, as text: no file or program in them is read or run. @param file absolute path */
export function repositorySettings(file: string, signal: AbortSignal): Promise<SettingEntries> {
  return listed(["--file", file, "--no-includes"], signal);
}

async function listed(from: readonly string[], signal: AbortSignal): Promise<SettingEntries> {
  const { program } = await machineGit();
  const { code, output } = await runUserProgram(program, ["config", ...from, "--list", "-z"], {
    // Outside of any repository, so that no other file is read.
    environment: { ...gitEnvironment(), GIT_DIR: "/dev/null" },
    signal,
  });
  if (code !== 0) return [];
  return output.split("\0").flatMap((entry) => {
    const [, name, value = "true"] = /^([^\n]+)(?:\n(.*))?$/s.exec(entry) ?? [];
    return name === undefined ? [] : [[name, value] as const];
  });
}

export function settingOf(entries: SettingEntries, name: string): string | undefined {
  return entries.findLast(([each]) => each === name)?.[1];
}
