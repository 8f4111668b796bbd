import { execFile } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { repositoryPaths } from "@gennai/machine/host/repository-paths";
import { looksLikeLogin } from "@gennai/machine/process/command-environment";
import { gitEnvironment } from "./git-environment.ts";
import { sandboxedConfiguration } from "./git-sandbox.ts";
import type { GitSettings } from "./git-settings.ts";
import { settingText } from "./setting-text.ts";

/** What the user's own files say for one repository, of what a git without the user's home gets. */
export interface UserGitConfiguration {
  /** For the server's own git, in the form of a git configuration file: what starts no program. */
  readonly settings: string;
  /** Absolute path of the patterns of files that the user's git ignores everywhere; the file may be missing. */
  readonly ignoredFile: string;
  /** The patterns. */
  readonly ignored: string;
  /**
   * Absolute path of the user's attributes for all repositories; the file may be missing. Git gets it only for runs that need it.
   */
  readonly attributesFile: string;
  /** All without logins, in the order of git: the last of a name counts. */
  readonly entries: GitSettings;
}

/** Which repositories the user trusts, how files are compared, who the user is. */
const known = /^(?:safe|core|user|author|committer)\./;

/** Logins, what tells where to find one, and files that were read already. */
const private_ = /^(?:credential|include|includeif|sendemail|imap)\.|\.[^.]*(?:pass|oauth|cookie|header)[^.]*$/;

/** Of what git says to servers, what is no login. */
const publicHttp =
  /\.(?:proxy|version|postbuffer|followredirects|maxrequests|lowspeed\w+|sslverify|sslbackend|sslcainfo)$/;

/** An address with a password, or with a user that is not ssh's. */
const userInAddress = /:\/\/[^/\s:@]*:[^/\s@]*@|(?<!ssh):\/\/[^/\s]*@/;

const maxBytes = 1024 * 1024;
/** As many repositories as are in use at a time. */
const maxKnown = 32;

interface Read {
  readonly stamp: string;
  /** Which the user's files name. */
  readonly files: readonly string[];
  readonly configuration: UserGitConfiguration;
}

/**
 * Reads the user's own files for a repository, and again when one of them or the repository's changed.
 * @param git absolute path
 */
export function createUserGitConfiguration(
  git: string,
): (directory: string, home?: string) => Promise<UserGitConfiguration> {
  const known = new Map<string, Promise<Read>>();
  return async (directory, home = homedir()) => {
    const key = `${home}\0${directory}`;
    const before = await known.get(key)?.catch(() => undefined);
    if (before !== undefined && before.stamp === stampOf(before.files)) return before.configuration;
    if (known.size >= maxKnown) known.clear();
    const reading = read(git, directory, home);
    known.set(key, reading);
    return (await reading).configuration;
  };
}

async function read(git: string, directory: string, home: string): Promise<Read> {
  const repository = repositoryPaths(directory, home)?.writable ?? [];
  const listed = await userSettings(git, directory, home);
  const named = listed.flatMap(({ origin }) => (origin.startsWith("file:") ? origin.slice("file:".length) : []));
  const files = [
    ...new Set([
      ...usualFiles(home),
      ...named.map((path) => (isAbsolute(path) ? path : join(home, path))),
      ...repository.flatMap((path) => [join(path, "HEAD"), join(path, "config")]),
    ]),
  ];
  const stamp = stampOf(files);
  const entries = [...listed.filter(isShown).map(({ name, value }) => [name, value] as const), ...fromEnvironment()];
  const ownFile = (setting: string, usual: string): string => {
    const path = entries.findLast(([name]) => name === setting)?.[1];
    return path?.replace(/^~(?=\/)/, home) ?? join(configHome(home), "git", usual);
  };
  const ignoredFile = ownFile("core.excludesfile", "ignore");
  const own = entries.filter(([name]) => known.test(name) && name !== "core.excludesfile");
  const configuration = {
    settings: [...own, ["core.excludesfile", sandboxedConfiguration.ignored] as const]
      .map(([name, value]) => settingText(name, value))
      .join(""),
    ignoredFile,
    ignored: textOf(ignoredFile),
    attributesFile: ownFile("core.attributesfile", "attributes"),
    entries,
  };
  return { stamp, files, configuration };
}

function isShown({ name, value }: Listed): boolean {
  if (private_.test(name) || (name.startsWith("http.") && !publicHttp.test(name))) return false;
  return !userInAddress.test(`${name}\n${value}`) && !looksLikeLogin(name.slice(name.lastIndexOf(".") + 1), value);
}

/** These variables outrank all files. */
function fromEnvironment(): GitSettings {
  return ["author", "committer"].flatMap((who) =>
    ["name", "email"].flatMap((what) => {
      const value = process.env[`GIT_${who}_${what}`.toUpperCase()];
      return value ? [[`${who}.${what}`, value] as const] : [];
    }),
  );
}

interface Listed {
  readonly origin: string;
  readonly name: string;
  readonly value: string;
}

/** Read in the repository, because files can be included for some repositories alone. It decides nothing else. */
function userSettings(git: string, directory: string, home: string): Promise<readonly Listed[]> {
  const { GIT_CONFIG_GLOBAL } = process.env;
  return new Promise((resolve) => {
    execFile(
      git,
      ["config", "--global", "--includes", "--show-origin", "--list", "-z"],
      {
        cwd: directory,
        env: { ...gitEnvironment(), HOME: home, ...(GIT_CONFIG_GLOBAL === undefined ? {} : { GIT_CONFIG_GLOBAL }) },
        timeout: 10_000,
        maxBuffer: maxBytes,
      },
      (error, stdout) => {
        const parts = stdout.split("\0");
        const listed: Listed[] = [];
        for (let at = 0; at + 1 < parts.length; at += 2) {
          // A name alone means true.
          const [, name = "", value = "true"] = /^([^\n]+)(?:\n(.*))?$/s.exec(parts[at + 1] ?? "") ?? [];
          listed.push({ origin: parts[at] ?? "", name, value });
        }
        // A missing file is an empty configuration; a broken one is reported by the user's own git.
        resolve(error === null ? listed : []);
      },
    );
  });
}

function usualFiles(home: string): readonly string[] {
  const ofGit = ["config", "ignore", "attributes"].map((name) => join(configHome(home), "git", name));
  return [process.env["GIT_CONFIG_GLOBAL"] ?? join(home, ".gitconfig"), ...ofGit];
}

/** As git finds it. */
function configHome(home: string): string {
  return process.env["XDG_CONFIG_HOME"] || join(home, ".config");
}

function textOf(path: string): string {
  try {
    return statSync(path).size > maxBytes ? "" : readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function stampOf(files: readonly string[]): string {
  return files
    .map((path) => {
      const { mtimeNs, size, ino } = statSync(path, { bigint: true, throwIfNoEntry: false }) ?? {};
      return `${mtimeNs} ${size} ${ino}`;
    })
    .concat(fromEnvironment().map((entry) => entry.join()))
    .join("\n");
}
