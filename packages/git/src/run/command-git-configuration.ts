import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { realPath } from "@gennai/machine/host/way-to";
import { GitMissingError, machineGit } from "./machine-git.ts";
import { settingText } from "./setting-text.ts";

/** The user's own configuration for one repository, for the git of commands. */
export interface CommandGitConfiguration {
  /** A git configuration file. */
  readonly text: string;
  /** Real paths of files and directories that it names. */
  readonly named: readonly string[];
  /** Real path of the user's hooks for all repositories: programs, which get no way out. */
  readonly hooks: string | undefined;
  /** Whether the user signs commits. No command can: the keys stay behind. */
  readonly signs: boolean;
}

const none: CommandGitConfiguration = { text: "", named: [], hooks: undefined, signs: false };

/** Settings that name a file or directory. */
const naming =
  /^(?:core\.(?:excludesfile|attributesfile|hookspath)|commit\.template|init\.templatedir|mailmap\.file|gpg\.ssh\.allowedsignersfile|http\.(?:.*\.)?sslcainfo)$/;

/**
 * @param directory in the repository
 * @param home the user's, real path
 * @param mayShow whether commands may see what is at a real path
 */
export async function commandGitConfiguration(
  directory: string,
  home: string,
  mayShow: (path: string) => boolean,
): Promise<CommandGitConfiguration> {
  const git = await machineGit().catch((error: unknown) => {
    if (error instanceof GitMissingError) return undefined;
    throw error;
  });
  if (git === undefined) return none;
  const { entries, ignoredFile, attributesFile } = await git.userConfiguration(directory, home);
  const named: string[] = [];
  let hooks: string | undefined;
  const usual = [
    ["core.excludesfile", ignoredFile],
    ["core.attributesfile", attributesFile],
  ] as const;
  const lines = [...entries, ...usual.filter(([, path]) => existsSync(path))].map(([name, value]) => {
    const path = value.replace(/^~(?=\/)/, home);
    const real = naming.test(name) && isAbsolute(path) ? realPath(path) : undefined;
    if (real === undefined || !mayShow(real)) return settingText(name, value);
    if (name === "core.hookspath") hooks = real;
    else named.push(real);
    return settingText(name, real);
  });
  const signs = entries.findLast(([name]) => name === "commit.gpgsign")?.[1] ?? "false";
  return { text: lines.join(""), named: [...new Set(named)], hooks, signs: !/^(?:false|no|off|0|)$/i.test(signs) };
}
