import { type CommandGitConfiguration, commandGitConfiguration } from "@gennai/git/run/command-git-configuration";
import { secretPath } from "@gennai/governance/command/secret-paths";
import { workspaceIdOf } from "@gennai/governance/ledger/ledger-record";
import { giveWay } from "@gennai/machine/entries/give-way";
import { type HostLayout, mayShow } from "@gennai/machine/host/host-layout";
import { isWithin } from "@gennai/protocol/is-within";
import type { BubblewrapFeatures } from "./bubblewrap-arguments.ts";
import { ShownSecrets } from "./cover/shown-secrets.ts";
import { UnprotectedWorkspace } from "./cover/unprotected-workspace.ts";
import type { SandboxFiles } from "./sandbox-files.ts";

/** What a workspace's staged commands see of this machine. */
export interface ShellMachine {
  /** Absolute path of bubblewrap. */
  readonly bubblewrap: string;
  readonly features: BubblewrapFeatures;
  readonly layout: HostLayout;
  /** Secrets in what the layout shows; those in the workspace are covered there. */
  secrets(): Promise<readonly string[]>;
  /** The user's, for the repository around a directory. */
  gitConfiguration(directory: string): Promise<CommandGitConfiguration>;
  /** Directory that a command sees as `/tmp`. */
  readonly temporary: string;
  /** An empty directory. */
  readonly empty: string;
  /** Path of a private file with this text, or these bytes; it exists as long as the server runs. */
  fileOf(content: string | Uint8Array): string;
}

/** This machine's sandbox for staged commands. */
export class ShellSandbox {
  readonly #options: ShellSandboxOptions;
  #secrets: Promise<ShownSecrets> | undefined;

  constructor(options: ShellSandboxOptions) {
    this.#options = options;
  }

  /** Throws `UnprotectedWorkspace`. */
  machineFor(workspaceRoot: string): ShellMachine {
    const { program, features, layout, place } = this.#options;
    refuseUnsafeRoot(workspaceRoot, layout);
    const looking = (this.#secrets ??= ShownSecrets.in(layout, giveWay));
    const secrets = async (): Promise<readonly string[]> => (await looking).paths();
    const temporary = place.temporaryFor(workspaceIdOf(workspaceRoot).slice(0, 16));
    const fileOf = (content: string | Uint8Array): string => place.fileOf(content);
    const gitConfiguration = (directory: string): Promise<CommandGitConfiguration> =>
      commandGitConfiguration(directory, layout.home ?? "/", (path) => mayShow(path, layout));
    return { bubblewrap: program, features, layout, secrets, gitConfiguration, temporary, empty: place.empty, fileOf };
  }
}

export interface ShellSandboxOptions {
  /** Absolute path of bubblewrap. */
  readonly program: string;
  readonly features: BubblewrapFeatures;
  readonly layout: HostLayout;
  readonly place: Omit<SandboxFiles, keyof Disposable>;
}

/** Bubblewrap's message if it failed; then the command was not started. */
export function sandboxFailure(run: {
  readonly exitCode: number | undefined;
  readonly output: string;
}): string | undefined {
  return run.exitCode === 1 && /^bwrap: [^\n]+\n?$/.test(run.output) ? run.output.trim() : undefined;
}

function refuseUnsafeRoot(root: string, layout: HostLayout): void {
  if (root === "/") throw new UnprotectedWorkspace("the workspace is the root of all files.");
  const around =
    secretPath(root) === undefined ? layout.hidden.find((path) => isWithin(root, { directory: path })) : root;
  if (around !== undefined)
    throw new UnprotectedWorkspace(`the workspace lies in ${around}, which commands must not see.`);
}
