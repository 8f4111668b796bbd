import { type ChildProcess, execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { startProcess } from "@gennai/machine/process/start-process";
import { gitEnvironment } from "./git-environment.ts";
import { type GitMounts, handConfiguration, sandboxedConfiguration } from "./git-sandbox.ts";
import {
  fixedSettings,
  type GitSettings,
  guardedGit,
  harmlessValue,
  programSettings,
  settingsEnvironment,
} from "./git-settings.ts";
import { killGit } from "./kill-git.ts";
import { type MachineGit, machineGit } from "./machine-git.ts";

export interface GitStart extends GitMounts {
  /** Absolute path of an existing directory. */
  readonly cwd: string;
  /** Git's working tree, whatever a repository says; undefined outside of a repository, and if `environment` says it. */
  readonly workTree: string | undefined;
  /** Environment variables for git. */
  readonly environment: Readonly<Record<string, string>>;
  readonly settings?: GitSettings;
  /** Who wrote the settings that git follows: other people, or only this program. */
  readonly repository: "of-others" | "our-own";
  /** False where no one else's git data is read: a sandbox takes four times as long as git itself. */
  readonly sandbox?: false;
}

/** A running git. It ends by itself, or by `kill`. */
export interface StartedGit {
  readonly stdin: Writable;
  readonly stdout: Readable;
  kill(): void;
  /**
   * Resolves when it has ended and all its output was read. `code` is undefined when it was killed; `errors` are the first 2000
   * characters of what it complained about. Rejects when the sandbox could not be made.
   */
  readonly ended: Promise<{ readonly code: number | undefined; readonly errors: string }>;
}

const maxErrors = 2_000;

/**
 * Starts git; no other code does. In the sandbox it sees only these mounts; without one it runs as the user.
 * Either way it starts no program that a repository's settings or attributes name. Rejects with `GitMissingError`.
 */
export async function startGit(args: readonly string[], start: GitStart): Promise<StartedGit> {
  const git = await machineGit();
  return git.sandbox === undefined || start.sandbox === false
    ? startPlain(git, args, start)
    : startSandboxed(git, args, start);
}

/**
 * Environment for a command that only reads and runs without a sandbox: it keeps the command's git from starting programs that
 * the repository around `cwd` names. Empty if there is no usable git.
 */
export async function readingGitEnvironment(
  cwd: string,
  environment: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  const git = await machineGit().catch(() => undefined);
  if (git === undefined) return {};
  const env = { ...environment, ...settingsEnvironment(fixedSettings) };
  const [names, submodules] = await Promise.all([
    Promise.all(["--local", "--worktree"].map((scope) => repositoryPrograms(git.program, scope, { cwd, env }))),
    Promise.all(submoduleLists(cwd).map((list) => submodulesIn(git.program, list, { cwd, env }))),
  ]);
  return settingsEnvironment([
    ...fixedSettings,
    ...names.flat().map((name) => [name, harmlessValue(name)] as const),
    // A submodule's own setting overrides the general one: to examine a submodule, git would start another git there.
    ...[...new Set(submodules.flat())].map((name) => [`submodule.${name}.ignore`, "dirty"] as const),
  ]);
}

/** Arguments for the places of `.gitmodules`: git uses the first that exists. */
function submoduleLists(cwd: string): readonly (readonly string[])[] {
  const committed = [
    ["--blob", ":.gitmodules"],
    ["--blob", "HEAD:.gitmodules"],
  ];
  for (let at = cwd; ; at = dirname(at)) {
    if (existsSync(join(at, ".gitmodules"))) committed.push(["--file", join(at, ".gitmodules")]);
    if (existsSync(join(at, ".git")) || dirname(at) === at) return committed;
  }
}

function submodulesIn(
  git: string,
  list: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<readonly string[]> {
  return new Promise((resolve) => {
    const args = ["config", ...list, "--name-only", "-z", "--get-regexp", "^submodule\\."];
    execFile(git, args, { ...options, maxBuffer: 1024 * 1024 }, (_error, stdout) => {
      resolve(stdout.split("\0").flatMap((name) => /^submodule\.(.+)\.[^.]+$/s.exec(name)?.[1] ?? []));
    });
  });
}

/** The repository's own settings that name programs; programs in the user's settings are the user's choice. */
function repositoryPrograms(
  git: string,
  scope: string,
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<readonly string[]> {
  return new Promise((resolve) => {
    const args = ["config", scope, "--includes", "--name-only", "-z", "--get-regexp", programSettings];
    // Outside a repository there are none, and an unreadable configuration makes the command's own git fail too.
    execFile(git, args, { ...options, maxBuffer: 1024 * 1024 }, (_error, stdout) => {
      resolve(stdout.split("\0").filter((name) => name !== "" && name !== "core.worktree"));
    });
  });
}

async function startSandboxed(git: MachineGit, args: readonly string[], start: GitStart): Promise<StartedGit> {
  const [program = "", ...sandboxed] = git.sandbox?.commandLine(start, start.cwd) ?? [];
  const guarded =
    start.repository === "our-own"
      ? [git.program]
      : ["/bin/sh", "-c", guardedGit, git.program, programSettings, start.workTree ?? ""];
  const configuration = await git.userConfiguration(start.workTree ?? start.cwd);
  const environment = { ...environmentOf(start), ...insideEnvironment, ...start.environment };
  const child = startProcess(program, [...sandboxed, ...guarded, "--no-pager", ...args], {
    env: environment,
    stdio: ["pipe", "pipe", "pipe", "pipe", "pipe"],
    detached: true,
  });
  handConfiguration(child, configuration);
  return started(child);
}

/**
 * The user's `PATH` may lead into the home, which does not exist in the sandbox; git finds what it needs beside its own program.
 */
const insideEnvironment = { HOME: "/", GIT_CONFIG_GLOBAL: sandboxedConfiguration.settings };

async function startPlain(git: MachineGit, args: readonly string[], start: GitStart): Promise<StartedGit> {
  const environment = { ...environmentOf(start), ...start.environment };
  const guarded = start.repository === "our-own" ? {} : await harmless(git.program, start, environment);
  const child = startProcess(git.program, ["--no-pager", ...args], {
    cwd: start.cwd,
    env: { ...environment, ...guarded },
    stdio: ["pipe", "pipe", "pipe"],
    // So that a Ctrl-C for this process does not end git, which would leave a lock, and half of its work.
    detached: true,
  });
  return started(child);
}

function environmentOf({ settings = [] }: GitStart): Readonly<Record<string, string | undefined>> {
  return { ...gitEnvironment(), ...settingsEnvironment([...fixedSettings, ...settings]) };
}

/** Settings that outrank those found here that start a program. Rejects if git cannot list them. */
function harmless(
  program: string,
  { cwd, workTree, settings = [] }: GitStart,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Readonly<Record<string, string>>> {
  return new Promise((resolve, reject) => {
    const args = ["config", "--name-only", "-z", "--get-regexp", programSettings];
    execFile(program, args, { cwd, env: environment, maxBuffer: 1024 * 1024 }, (error, stdout) => {
      // Exit code 1: there are none. A configuration that git cannot read would also fail later.
      if (error !== null && error.code !== 1) {
        resolve({ GIT_DIR: "/dev/null" });
        return;
      }
      const names = stdout.split("\0").filter((name) => name !== "");
      const leads = names.includes("core.worktree") && workTree !== undefined;
      const found = names
        .filter((name) => name !== "core.worktree")
        .map((name) => [name, harmlessValue(name)] as const);
      resolve({
        ...settingsEnvironment([...fixedSettings, ...settings, ...found]),
        ...(leads ? { GIT_WORK_TREE: workTree } : {}),
      });
    }).once("error", reject);
  });
}

async function started(child: ChildProcess): Promise<StartedGit> {
  const { stdin, stdout, stderr } = child;
  let errors = "";
  const ended = new Promise<{ readonly code: number | undefined; readonly errors: string }>((resolve, reject) => {
    stderr?.setEncoding("utf8").on("data", (text: string) => {
      errors = (errors + text).slice(0, maxErrors);
    });
    child.once("error", reject);
    child.once("close", (code) => {
      // Git also returns 1 for "none" and "different".
      if (code === 1 && errors.startsWith("bwrap: "))
        reject(new Error(`git's sandbox could not be made: ${errors.trim()}`));
      else resolve({ code: code ?? undefined, errors });
    });
  });
  // The caller may read the output before it handles this.
  ended.catch(() => undefined);
  if (stdin === null || stdout === null) {
    await ended;
    throw new Error("git could not be started.");
  }
  // If git ends early, its exit code says more than a broken pipe.
  stdin.on("error", () => undefined);
  return { stdin, stdout, kill: () => killGit(child), ended };
}
