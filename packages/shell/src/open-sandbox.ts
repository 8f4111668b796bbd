import { execFile } from "node:child_process";
import { sandboxedGitHint } from "@gennai/git/run/git-isolation";
import { GitUnsandboxedError, requireGitSandbox } from "@gennai/git/run/machine-git";
import { findBubblewrap } from "@gennai/machine/host/find-bubblewrap";
import { type HostLayout, readHostLayout } from "@gennai/machine/host/host-layout";
import { hasShell } from "@gennai/machine/process/plain-shell";
import type { CommandsMode } from "@gennai/protocol/commands-mode";
import { type BubblewrapFeatures, machineArguments, startArguments } from "@gennai/stage/sandbox/bubblewrap-arguments";
import { callFilter } from "@gennai/stage/sandbox/call-filter";
import { namespaceAdvice } from "@gennai/stage/sandbox/namespace-advice";
import { type Sandbox, SandboxRequired } from "@gennai/stage/sandbox/sandbox";
import { openSandboxFiles, type SandboxFiles } from "@gennai/stage/sandbox/sandbox-files";
import { ShellSandbox } from "@gennai/stage/sandbox/shell-sandbox";

export interface SandboxOptions {
  readonly commands: CommandsMode;
  /** Private directory, real path. */
  readonly stateDir: string;
  readonly home: string;
  /** The environment of commands. */
  readonly environment: Readonly<Record<string, string>>;
  readonly platform: string;
  /** Further directories that no command may see. */
  readonly privateDirectories?: readonly string[];
  /** Further paths that the user wants commands to see. */
  readonly shown?: readonly string[];
  /** For tests. */
  readonly bubblewrap?: string | undefined;
}

/** Milliseconds for a command that does nothing. */
const probeTimeout = 5_000;

const install =
  "Install bubblewrap (Debian, Ubuntu: sudo apt install bubblewrap; Fedora: sudo dnf install bubblewrap; Arch: sudo pacman -S bubblewrap). Or leave out --commands staged.";

const requiredHint = `${sandboxedGitHint}, or leave out --commands staged.`;

/**
 * Finds out once whether there is a sandbox, by really running a command in it. With `staged`, rejects with
 * `SandboxRequired` if there is none, or if there is none for git. Disposing removes what the sandbox keeps on disk.
 */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox & AsyncDisposable> {
  if (options.commands === "ask") return unsandboxed("it was switched off");
  const opened = await open(options);
  if (opened.state === "unsandboxed" && options.commands === "staged")
    throw new SandboxRequired(`${opened.reason}.`, opened.hint);
  if (options.commands === "staged") await requireForGit(opened);
  return opened;
}

/** The server's own git runs in a separate sandbox, which can fail on its own. */
async function requireForGit(opened: AsyncDisposable): Promise<void> {
  try {
    await requireGitSandbox();
  } catch (error) {
    await opened[Symbol.asyncDispose]();
    throw error instanceof GitUnsandboxedError ? new SandboxRequired(error.message, requiredHint) : error;
  }
}

async function open(options: SandboxOptions): Promise<(Sandbox & AsyncDisposable) & { readonly hint: string }> {
  const without = (reason: string, hint: string) => ({ ...unsandboxed(reason), hint });
  if (options.platform !== "linux") {
    return without(
      `there is none for ${options.platform} yet`,
      "Run the server on Linux, or leave out --commands staged.",
    );
  }
  const program = "bubblewrap" in options ? options.bubblewrap : findBubblewrap();
  if (program === undefined) return without("bubblewrap (bwrap) is not installed", install);
  if (!hasShell()) return without("there is no shell", "Install bash.");
  const layout = readHostLayout({
    home: options.home,
    environment: options.environment,
    privateDirectories: [options.stateDir, ...(options.privateDirectories ?? [])],
    ...(options.shown === undefined ? {} : { shown: options.shown }),
  });
  const place = openSandboxFiles(options.stateDir);
  const probed = await probe(program, layout, place);
  if (typeof probed === "string") {
    place[Symbol.dispose]();
    return without(`bubblewrap cannot make a sandbox here: ${probed}`, namespaceAdvice(probed, program));
  }
  return {
    state: "sandboxed",
    reason: `bubblewrap (${program})${probed.filter === undefined ? ", which filters no system calls here" : ""}`,
    hint: "",
    shell: new ShellSandbox({ program, features: probed, layout, place }),
    [Symbol.asyncDispose]: async () => {
      place[Symbol.dispose]();
    },
  };
}

function unsandboxed(reason: string): Sandbox & AsyncDisposable {
  return { state: "unsandboxed", reason, [Symbol.asyncDispose]: async () => {} };
}

/** Runs `true`, without options that an older bubblewrap does not know. The reason if it fails. */
async function probe(program: string, layout: HostLayout, place: SandboxFiles): Promise<BubblewrapFeatures | string> {
  const temporary = place.temporaryFor("probe");
  let reason = "";
  const filter = callFilter();
  const file = filter === undefined ? undefined : place.fileOf(filter);
  const all = [true, false].map((disableUserNamespaces): BubblewrapFeatures => ({ disableUserNamespaces }));
  for (const features of [...(file === undefined ? [] : all.map((each) => ({ ...each, filter: file }))), ...all]) {
    const argv = [program, ...machineArguments({ layout, temporary }, features), ...startArguments("/")];
    reason = await failure(features.filter, [...argv, "/bin/sh", "-c", "true"]);
    if (reason === "") return features;
  }
  return reason;
}

/** The reason of a failure; empty if it worked. @param opens file that the program gets open as descriptor 3 */
function failure(opens: string | undefined, argv: readonly string[]): Promise<string> {
  const words = ["-c", `exec 3<"$0"; exec "$@"`, opens ?? "/dev/null", ...argv];
  return new Promise((resolve) => {
    execFile("/bin/sh", words, { timeout: probeTimeout, env: { PATH: "/usr/bin:/bin" } }, (error, _output, errors) => {
      resolve(error === null ? "" : errors.trim().split("\n").at(-1)?.slice(0, 300) || error.message.slice(0, 300));
    });
  });
}
