import type { ChildProcess } from "node:child_process";
import { existsSync, lstatSync } from "node:fs";
import { homedir } from "node:os";
import { dirname } from "node:path";
import { Writable } from "node:stream";
import { userConfigDir } from "@gennai/machine/config/config-directory";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { findBubblewrap } from "@gennai/machine/host/find-bubblewrap";
import { type HostLayout, readHostLayout } from "@gennai/machine/host/host-layout";
import { isWithin } from "@gennai/protocol/is-within";
import type { UserGitConfiguration } from "./user-git-configuration.ts";

/** Which of the machine's files a git sees, besides the system's own. Real absolute paths. */
export interface GitMounts {
  readonly readable: readonly string[];
  readonly writable: readonly string[];
}

/** Paths at which a sandboxed git finds the permitted parts of the user's configuration. */
export const sandboxedConfiguration = { settings: "/.git-settings", ignored: "/.git-ignored" } as const;

/** Runs git with no network, no home, no other process, and only the files that it needs. */
export class GitSandbox {
  readonly #program: string;
  readonly #layout: HostLayout;
  readonly #disableUserNamespaces: boolean;

  constructor(options: {
    /** Absolute path of bubblewrap. */
    readonly program: string;
    readonly layout: HostLayout;
    readonly disableUserNamespaces: boolean;
  }) {
    this.#program = options.program;
    this.#layout = options.layout;
    this.#disableUserNamespaces = options.disableUserNamespaces;
  }

  /**
   * A program and its arguments, up to the program to run inside. It reads the user's configuration from descriptor 3, and the
   * user's ignore patterns from descriptor 4.
   */
  commandLine(mounts: GitMounts, cwd: string): readonly string[] {
    const { links, hidden, readable } = this.#layout;
    const shown = [...readable, ...mounts.readable, ...mounts.writable];
    const covered = hidden.filter(
      (path) =>
        shown.some((directory) => isWithin(path, { directory })) &&
        !mounts.writable.some((directory) => isWithin(directory, { directory: path })),
    );
    return [
      this.#program,
      ...["--unshare-all", "--unshare-user", ...(this.#disableUserNamespaces ? ["--disable-userns"] : [])],
      ...["--die-with-parent", "--new-session", "--cap-drop", "ALL"],
      ...["--proc", "/proc", "--dev", "/dev", "--size", temporaryBytes, "--tmpfs", "/tmp"],
      ...[
        "--ro-bind-data",
        "3",
        sandboxedConfiguration.settings,
        "--ro-bind-data",
        "4",
        sandboxedConfiguration.ignored,
      ],
      ...links.flatMap(({ path, target }) => ["--symlink", target, path]),
      ...readable.flatMap((path) => ["--ro-bind-try", path, path]),
      ...mounts.readable.flatMap((path) => ["--ro-bind", path, path]),
      ...mounts.writable.flatMap((path) => ["--bind", path, path]),
      ...covered.flatMap(cover),
      ...["--remount-ro", "/", "--chdir", cwd, "--"],
    ];
  }
}

/** Passes the permitted parts of the user's configuration to a sandboxed git, through two pipes after its standard streams. */
export function handConfiguration(
  child: ChildProcess,
  { settings, ignored }: Pick<UserGitConfiguration, "settings" | "ignored">,
): void {
  for (const [descriptor, text] of [[3, settings] as const, [4, ignored] as const]) {
    const pipe = child.stdio[descriptor];
    // A sandbox that could not be made reads nothing.
    if (pipe instanceof Writable) pipe.on("error", () => undefined).end(text);
  }
}

/** Bytes. Git stores almost nothing there. */
const temporaryBytes = "67108864";

/** The machine's sandboxes for git, best first; the first working one is used. Empty if there is none. */
export function gitSandboxes(git: string): readonly GitSandbox[] {
  const program = process.platform === "linux" ? findBubblewrap() : undefined;
  if (program === undefined) return [];
  const home = homedir();
  const layout = readHostLayout({
    home,
    environment: { PATH: dirname(git) },
    privateDirectories: [defaultStateDir(process.env), userConfigDir(process.env)],
  });
  const narrow = { ...layout, readable: layout.readable.filter((path) => !isWithin(path, { directory: home })) };
  // An older bubblewrap cannot keep namespaces from being made inside.
  return [true, false].map(
    (disableUserNamespaces) => new GitSandbox({ program, layout: narrow, disableUserNamespaces }),
  );
}

function cover(path: string): readonly string[] {
  const stat = existsSync(path) ? lstatSync(path) : undefined;
  // Nothing can be mounted on a link; its target is covered under its own name.
  if (stat === undefined || stat.isSymbolicLink()) return [];
  return stat.isDirectory() ? ["--tmpfs", path, "--remount-ro", path] : ["--ro-bind", "/dev/null", path];
}
