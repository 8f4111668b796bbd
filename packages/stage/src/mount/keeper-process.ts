import { once } from "node:events";
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { quoted } from "@gennai/governance/command/shell-words";
import { inheritedDescriptors } from "@gennai/machine/process/inherited-descriptors";
import { takeKeeperShell } from "@gennai/machine/process/parked-shell";
import type { WaitingShell } from "@gennai/machine/process/spawn-helper";
import { startProcess } from "@gennai/machine/process/start-process";
import { checkSameRoot } from "@gennai/machine/workspace/paths/workspace-root";
import type { LayeredRoot } from "../transaction/staged-root.ts";
import { systemProgram } from "../transaction/system-program.ts";
import { heldAt, keeperScript } from "./mount-batches.ts";
import type { SessionNetwork } from "./session-network.ts";

/** A shell in its own user and mount namespaces, which reads from its standard input what to do there. */
export interface KeeperProcess {
  readonly id: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the process has ended. */
  gone(): Promise<void>;
  hasEnded(): boolean;
  /** Closes the descriptors of the roots. Call it when the keeper has reported that it mounted them, or could not. */
  letGo(): void;
}

/** Nothing of this process's environment is passed on. */
const environment = { PATH: "/usr/bin:/bin", LC_ALL: "C" };

/** @param options.arguments of its script */
export function startKeeper(
  roots: readonly LayeredRoot[],
  options: { readonly network: SessionNetwork | undefined; readonly arguments: readonly string[] },
): KeeperProcess {
  const argv = [
    ...(options.network === undefined
      ? [systemProgram("unshare"), "--user", "--map-root-user", "--mount"]
      : [systemProgram("nsenter"), ...options.network.joinArguments, "--", systemProgram("unshare"), "--mount"]),
    ...["/bin/sh", "-c", keeperScript, "sh", systemProgram("mount"), ...options.arguments],
  ];
  const held: number[] = [];
  const letGo = (): void => {
    for (const descriptor of held.splice(0)) closeSync(descriptor);
  };
  try {
    for (const root of roots) {
      const descriptor = openSync(root.path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
      held.push(descriptor);
      checkSameRoot(root, fstatSync(descriptor));
    }
    const shell = takeKeeperShell(environment);
    return { ...(shell === undefined ? spawnKeeper(argv, held) : becomeKeeper(shell, argv, held)), letGo };
  } catch (error) {
    letGo();
    throw error;
  }
}

type StartedKeeper = Omit<KeeperProcess, "letGo">;

/** Starting a process stops this one, for longer the more memory it has: so a waiting shell becomes the keeper. */
function becomeKeeper(shell: WaitingShell, argv: readonly string[], held: readonly number[]): StartedKeeper {
  const { id, input, output, said, saidTo, ended } = shell;
  for (const stream of [input, output, said]) stream.ref();
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  const gone = async (): Promise<void> => {
    // A timer keeps this process alive, since the shell's report does not.
    const waiting = setInterval(() => undefined, 1_000);
    await ended;
    clearInterval(waiting);
  };
  const opened = held.map(
    (descriptor, root) => `exec ${heldAt(root)}<${quoted(`/proc/${process.pid}/fd/${descriptor}`)}`,
  );
  input.write([`exec 2>&${saidTo} ${saidTo}>&-`, ...opened, `exec ${argv.map(quoted).join(" ")}`, ""].join("\n"));
  return { id, stdin: input, stdout: output, stderr: said, gone, hasEnded: () => hasEnded };
}

function spawnKeeper([program = "", ...args]: readonly string[], held: readonly number[]): StartedKeeper {
  const stdio: ("pipe" | "ignore" | number)[] = ["pipe", "pipe", "pipe"];
  for (const [root, descriptor] of held.entries()) stdio[heldAt(root)] = descriptor;
  // The keeper must not get the descriptors that this process inherited.
  const last = Math.max(stdio.length - 1, ...inheritedDescriptors());
  const all = Array.from({ length: last + 1 }, (_, index) => stdio[index] ?? "ignore");
  // Detached: this process decides about a Ctrl-C at the terminal.
  const child = startProcess(program, args, { cwd: "/", env: environment, stdio: all, detached: true });
  const { pid, stdin, stdout, stderr } = child;
  const exit = once(child, "exit").catch(() => undefined);
  const gone = async (): Promise<void> => {
    await exit;
  };
  if (stdin === null || stdout === null || stderr === null) throw new Error("The keeper of the mounts has no pipes.");
  return {
    id: pid ?? 0,
    stdin,
    stdout,
    stderr,
    gone,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
  };
}
