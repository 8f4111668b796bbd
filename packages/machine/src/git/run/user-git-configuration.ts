import { execFile } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { gitEnvironment } from "./git-environment.ts";
import { sandboxedConfiguration } from "./git-sandbox.ts";
import { settingText } from "./setting-text.ts";

/** The parts of the user's configuration that a git without the user's home gets. */
export interface UserGitConfiguration {
  /** In the form of a git configuration file. */
  readonly settings: string;
  /** Patterns of files that the user's git ignores everywhere. */
  readonly ignored: string;
  /**
   * Absolute path of the user's attributes for all repositories; the file may be missing. Git gets it only for runs that need it.
   */
  readonly attributesFile: string;
}

/** Which repositories the user trusts, how files are compared, who the user is. Nothing that may hold a login or a program. */
const known = /^(?:safe|core|user)\./;

const maxBytes = 1024 * 1024;

/** Reads the user's own files, and again when one of the usual ones changed. */
export function createUserGitConfiguration(git: string): () => Promise<UserGitConfiguration> {
  let read: { readonly stamp: string; readonly configuration: Promise<UserGitConfiguration> } | undefined;
  return () => {
    const stamp = usualFiles().map(stampOf).join("\n");
    if (read?.stamp !== stamp) read = { stamp, configuration: readConfiguration(git) };
    return read.configuration;
  };
}

async function readConfiguration(git: string): Promise<UserGitConfiguration> {
  const entries = (await userSettings(git)).split("\0").flatMap((entry) => {
    const [, name, value] = /^([^\n]+)\n(.*)$/s.exec(entry) ?? [];
    return name !== undefined && value !== undefined && known.test(name) ? [{ name, value }] : [];
  });
  const ownFile = (setting: string, usual: string): string => {
    const named = entries.findLast(({ name }) => name === setting)?.value;
    return named?.replace(/^~(?=\/)/, homedir()) ?? join(configHome(), "git", usual);
  };
  const own = entries.filter(({ name }) => name !== "core.excludesfile");
  return {
    settings: [...own, { name: "core.excludesfile", value: sandboxedConfiguration.ignored }]
      .map(({ name, value }) => settingText(name, value))
      .join(""),
    ignored: textOf(ownFile("core.excludesfile", "ignore")),
    attributesFile: ownFile("core.attributesfile", "attributes"),
  };
}

/** Read outside of any repository, so that only the user's own files are read. */
function userSettings(git: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(
      git,
      ["config", "--global", "--includes", "--list", "-z"],
      { cwd: "/", env: { ...gitEnvironment(), GIT_DIR: "/dev/null" }, timeout: 10_000, maxBuffer: maxBytes },
      // A missing file is an empty configuration; a broken one is reported by the user's own git.
      (error, stdout) => resolve(error === null ? stdout : ""),
    );
  });
}

function usualFiles(): readonly string[] {
  return [join(homedir(), ".gitconfig"), join(configHome(), "git", "config"), join(configHome(), "git", "ignore")];
}

function configHome(): string {
  return process.env["XDG_CONFIG_HOME"] || join(homedir(), ".config");
}

function textOf(path: string): string {
  try {
    return statSync(path).size > maxBytes ? "" : readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function stampOf(path: string): string {
  const { mtimeNs, size, ino } = statSync(path, { bigint: true, throwIfNoEntry: false }) ?? {};
  return `${mtimeNs} ${size} ${ino}`;
}
