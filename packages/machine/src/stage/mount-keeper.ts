import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, existsSync, fstatSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { atExit } from "../process/at-exit.ts";
import { inheritedDescriptors } from "../process/inherited-descriptors.ts";
import { namespaceAdvice } from "../sandbox/namespace-advice.ts";
import { checkSameRoot } from "../workspace/workspace-root.ts";
import { removeTree } from "./remove-tree.ts";
import type { SessionNetwork } from "./session-network.ts";
import { NotObservable, StageUnavailable } from "./stage-error.ts";
import { type Origins, originsIn, overlayView, type StageView } from "./stage-view.ts";
import type { StagedCache } from "./staged-caches.ts";
import { type LayeredRoot, type StagedRoot, stageParts } from "./staging-place.ts";
import { systemProgram } from "./system-program.ts";

/**
 * What commands see of roots. With overlays, a small process in a user and a mount namespace of its own keeps them: nobody else
 * sees the mounts, and they are gone when it is. It ends with its input, so also when this process is killed.
 */
export interface MountKeeper {
  /** Program and arguments by which a command comes to where the roots are. */
  readonly joinArguments: readonly string[];
  /** Whether a process sees them. @param mounts its `/proc/PID/mountinfo` */
  isSeen(process: number, mounts: string): boolean;
  /** Commands see the roots themselves, with something else at some paths, and can write to nothing of them. */
  readonly readOnly?: { readonly inPlace: readonly ShownInPlace[] };
  /** Commands that join it are in the network of their session. */
  readonly hasNetwork: boolean;
  /** Over which the run may write. */
  readonly caches: readonly StagedCache[];
  /** A path of this process's to what the command sees of a root. */
  merged(root: StagedRoot): string;
  /** Before the first of them: no process of a command is there any more, and none will be. */
  settle(): Promise<void>;
  /** What is to be seen of a root. */
  view(root: StagedRoot): StageView;
  /** Where what commands see is older than the command: the marker's ctime of each root, made before. */
  readonly markers?: readonly bigint[];
  /** True while nobody has taken them away. */
  areThere(): boolean;
  /**
   * Mounts the same anew, when nobody has anything of it open any more: a process that was no command of it may have been given a
   * file. Undefined where no such process can be.
   */
  again?(): Promise<MountKeeper>;
  /** Resolves when the mounts are gone. */
  close(): Promise<void>;
}

/** Absolute paths: what is to be seen at one of a root. */
export interface ShownInPlace {
  readonly path: string;
  readonly source: string;
}

/** `volatile`: nothing of it needs to be on disk before a commit, and unmounting does not sync the whole disk. */
const mountOptions = "userxattr,volatile,xino=off";

/**
 * Layers are named by descriptors, so that it does not matter which characters are in a path. They have to be opened within
 * the namespace; the root is compared with the one that was held outside. A root's last argument is the layer of a session, or
 * empty; so is a cache's. A cache over which none can be made stays as it is.
 */
const script = `
echo namespace
name=$1; mount=$2; options=$3; roots=$4; shift 4
while [ "$roots" -gt 0 ]; do
  exec 3<"$1" 4<"$2/mask" 5<"$2/upper" 6<"$2/work" 7<"\${4:-/}" || exit 1
  [ /proc/self/fd/3 -ef "/proc/self/fd/$3" ] || { echo "another directory has taken the place of $1" >&2; exit 1; }
  "$mount" -i -n -t overlay "$name" -o "$options,lowerdir=/proc/self/fd/4\${4:+:/proc/self/fd/7}:/proc/self/fd/3,upperdir=/proc/self/fd/5,workdir=/proc/self/fd/6" "$2/merged" || exit 1
  roots=$((roots - 1)); shift 4
done
while [ $# -gt 0 ]; do
  { "$mount" -i -n -t overlay "$name" -o "$options,lowerdir=\${3:+/proc/self/fd/7:}/proc/self/fd/3,upperdir=/proc/self/fd/5,workdir=/proc/self/fd/6" "$2/merged"
  } 2>/dev/null 3<"$1" 5<"$2/upper" 6<"$2/work" 7<"\${3:-/}" || rmdir "$2/merged"
  shift 3
done
exec 3<&- 4<&- 5<&- 6<&- 7<&-
echo mounted
read -r end
`;

export interface KeeperOptions {
  /** That commands are in; each has one of its own without. */
  readonly network?: SessionNetwork | undefined;
  readonly caches?: readonly StagedCache[];
  /**
   * They were mounted before, and it is refused while anybody has a file or a directory of them open. By root's directory, what was
   * known then.
   */
  readonly before?: ReadonlyMap<string, Origins>;
}

/** Throws `StageUnavailable`: `no_user_namespaces`, or `overlay_refused` with what the system said. */
export async function keepMounts(
  roots: readonly LayeredRoot[],
  mountName: string,
  { network, caches = [], before }: KeeperOptions = {},
): Promise<MountKeeper> {
  const isAgain = before !== undefined;
  const child = startKeeper(roots, mountName, { network, caches: isAgain ? [] : caches, isAgain });
  const { pid, stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error("The keeper of the mounts has no pipes.");
  const gone = once(child, "exit").catch(() => undefined);
  const leaving = atExit(() => child.kill("SIGKILL"));
  const close = async (): Promise<void> => {
    leaving[Symbol.dispose]();
    stdin.end();
    await gone;
    for (const stream of [stdout, stderr]) stream.destroy();
  };
  stdin.on("error", () => undefined);
  const said = await readUntil(stdout, "mounted\n");
  if (said.endsWith("mounted\n") && pid !== undefined) {
    const merged = (root: StagedRoot) => join(`/proc/${pid}/root`, root.directory, stageParts.merged);
    const areThere = () => child.exitCode === null && child.signalCode === null && existsSync(`/proc/${pid}/root/`);
    const hasNetwork = network !== undefined;
    const namespaces = ["--user", "--mount", ...(hasNetwork ? ["--net"] : [])];
    return {
      joinArguments: [systemProgram("nsenter"), `--target=${pid}`, ...namespaces, "--preserve-credentials", "--"],
      isSeen: (process, mounts) => process !== pid && mounts.includes(` ${mountName} `),
      settle: async () => undefined,
      view: (root) => overlayView(merged(root), before?.get(root.directory)),
      hasNetwork,
      caches,
      merged,
      areThere,
      again: async () => {
        const origins = new Map<string, Origins>();
        for (const root of roots)
          origins.set(root.directory, await originsIn(join(root.directory, stageParts.upper), merged(root)));
        await close();
        return mountAgain(roots, mountName, { network, caches, before: origins });
      },
      close,
    };
  }
  stdin.end();
  const complaint = (await readUntil(stderr, "")).trim().split("\n").at(0)?.slice(0, 300) || "it did not say why.";
  await close();
  if (!said.startsWith("namespace\n")) {
    throw new StageUnavailable(
      "no_user_namespaces",
      `The system lets no user namespace be made: ${complaint}`,
      namespaceAdvice(),
    );
  }
  if (!readFileSync("/proc/filesystems", "latin1").includes("\toverlay\n")) {
    throw new StageUnavailable(
      "no_overlay",
      "This kernel has no overlay file system.",
      "Load it: sudo modprobe overlay.",
    );
  }
  throw new StageUnavailable(
    "overlay_refused",
    `The system mounts no overlay over ${roots.map(({ path }) => path).join(", ")}: ${complaint}`,
    "Use Linux 5.11 or newer, and put the workspace and GENNAI_STATE_DIR on ext4, xfs or btrfs.",
  );
}

/** Its mounts go with a command, but a moment later. Throws `NotObservable`. */
async function mountAgain(
  roots: readonly LayeredRoot[],
  mountName: string,
  options: KeeperOptions,
): Promise<MountKeeper> {
  const giveUp = performance.now() + vanishMs;
  for (;;) {
    try {
      for (const { directory } of roots) {
        // The old one says that nobody wrote it to disk, which needs not be.
        const work = join(directory, stageParts.work);
        await removeTree(work);
        mkdirSync(work, { mode: 0o700 });
      }
      return await keepMounts(roots, mountName, options);
    } catch (cause) {
      if (!(cause instanceof StageUnavailable)) throw cause;
      if (performance.now() > giveUp) {
        throw new NotObservable("A process in the background still has open what the command left.", { cause });
      }
      await sleep(20);
    }
  }
}

const vanishMs = 5_000;

/** Descriptors that the keeper has for itself: input, outputs, and five layers. */
const ownDescriptors = 8;

function startKeeper(
  roots: readonly LayeredRoot[],
  mountName: string,
  { network, caches, isAgain }: KeeperOptions & Required<Pick<KeeperOptions, "caches">> & { readonly isAgain: boolean },
) {
  const held: number[] = [];
  try {
    for (const root of roots) {
      const descriptor = openSync(root.path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
      held.push(descriptor);
      checkSameRoot(root, fstatSync(descriptor));
    }
    const layers = roots.flatMap(({ path, directory, layer }, index) => [
      ...[path, directory, String(ownDescriptors + index)],
      layer ?? "",
    ]);
    const overlaid = caches.flatMap(({ below, directory, kept }) => [below, directory, kept ?? ""]);
    const stdio: ("pipe" | "ignore" | number)[] = ["pipe", "pipe", "pipe"];
    while (stdio.length < ownDescriptors) stdio.push("ignore");
    stdio.push(...held);
    // What this process inherited is not for the keeper.
    while (stdio.length <= Math.max(0, ...inheritedDescriptors())) stdio.push("ignore");
    const [program, ...before] =
      network === undefined
        ? [systemProgram("unshare"), "--user", "--map-root-user", "--mount"]
        : [systemProgram("nsenter"), ...network.joinArguments, "--", systemProgram("unshare"), "--mount"];
    return spawn(
      program,
      [
        ...[...before, "/bin/sh", "-c", script, "sh"],
        // With an index, the kernel refuses directories that another overlay still has.
        ...[mountName, systemProgram("mount"), `${mountOptions},index=${isAgain ? "on" : "off"}`],
        ...[String(roots.length), ...layers, ...overlaid],
      ],
      // A Ctrl-C at the terminal is for this process to decide about.
      { cwd: "/", env: { PATH: "/usr/bin:/bin", LC_ALL: "C" }, stdio, detached: true },
    );
  } finally {
    for (const descriptor of held) closeSync(descriptor);
  }
}

/** Up to this, or all. */
async function readUntil(stream: Readable, end: string): Promise<string> {
  let text = "";
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (end !== "" && text.endsWith(end)) break;
  }
  return text;
}
