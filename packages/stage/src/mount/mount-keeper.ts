import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { removeTree } from "@gennai/machine/entries/remove-tree";
import { type Origins, originsIn, overlayView, type StageView } from "@gennai/machine/entries/stage-view";
import { atExit } from "@gennai/machine/process/at-exit";
import { kill } from "@gennai/machine/process/parked-shell";
import type { StagedCache } from "../layer/staged-caches.ts";
import { namespaceAdvice } from "../sandbox/namespace-advice.ts";
import { NotObservable, StageUnavailable } from "../transaction/stage-error.ts";
import { type LayeredRoot, type StagedRoot, stageParts } from "../transaction/staged-root.ts";
import { systemProgram } from "../transaction/system-program.ts";
import { startKeeper } from "./keeper-process.ts";
import { batchArguments, cacheBatches, rootBatches, writeTables } from "./mount-batches.ts";
import type { SessionNetwork } from "./session-network.ts";

/**
 * What commands see of roots. With overlays, a small process in a user and a mount namespace of its own keeps them: nobody else
 * sees the mounts, and they are gone when it is. It ends with its input, so also when this process is killed.
 */
export interface MountKeeper {
  /** Program and arguments by which a command enters the namespaces of the mounts. */
  readonly joinArguments: readonly string[];
  /** Whether a process sees the mounts. @param mounts its `/proc/PID/mountinfo` */
  isSeen(process: number, mounts: string): boolean;
  /** Set if commands see the roots themselves, read-only, with something else at some paths. */
  readonly readOnly?: { readonly inPlace: readonly ShownPath[] };
  /** Commands that join the keeper are in the network of their session. */
  readonly hasNetwork: boolean;
  /** Caches that the run may write to. */
  readonly caches: readonly StagedCache[];
  /** Mounts the overlays over the caches, whose directories must exist. Throws `StageUnavailable`; all mounts are gone then. */
  mountCaches(): Promise<void>;
  /** A path, for this process, to what the command sees of a root. */
  merged(root: StagedRoot): string;
  /** Call it before `view`, when no process of a command is left and none will start. */
  settle(): Promise<void>;
  /** Before settling, where what a command wrote is not apart: whether it wrote the file at a path of a root. */
  wrote?(root: StagedRoot, path: string): Promise<boolean>;
  /** What shows what a command did to a root. */
  view(root: StagedRoot): StageView;
  /** Set if settling moves what commands changed: runs work while a root is as they left it. */
  asLeft?<Value>(root: StagedRoot, work: () => Promise<Value>): Promise<Value>;
  /** Settles, and makes ready for a run that goes on with the changes. Undefined where they are in layers of their own anyway. */
  stay?(): Promise<void>;
  /** The marker's ctime of each root, if what commands see was made before the command: made before that. */
  readonly markers?: readonly bigint[];
  /** True while the mounts exist. */
  areThere(): boolean;
  /**
   * Mounts the same again when no process has a file of it open any more: a process that is no command here may have been given
   * an open file. Undefined where no such process can exist.
   */
  again?(): Promise<MountKeeper>;
  /** Resolves when the mounts are gone. */
  close(): Promise<void>;
}

/** What shows in place of a path of a root. Absolute paths. */
export interface ShownPath {
  readonly path: string;
  readonly source: string;
}

export interface KeeperOptions {
  /** The network for the commands; without it, each command has its own. */
  readonly network?: SessionNetwork | undefined;
  /** Caches that a run may write to, once their overlays are mounted. */
  readonly caches?: readonly StagedCache[];
  /**
   * Set when the roots were mounted before: refused while any of their files is open. By root's directory, the origins known
   * then.
   */
  readonly before?: ReadonlyMap<string, Origins>;
}

/** Throws `StageUnavailable`: `no_user_namespaces`, or `overlay_refused` with what the system said. */
export async function keepMounts(
  roots: readonly LayeredRoot[],
  mountName: string,
  { network, caches = [], before }: KeeperOptions = {},
): Promise<MountKeeper> {
  // With `index=on`, the kernel refuses directories that another overlay still uses.
  const options = { mountName, index: before !== undefined };
  const ofCaches = before === undefined ? cacheBatches(roots[0]?.directory ?? "/", caches, options) : [];
  const ofRoots = rootBatches(roots, options);
  writeTables(ofRoots);
  const keeper = startKeeper(roots, { network, arguments: batchArguments(ofRoots, ofCaches) });
  const { id, stdin, stdout, stderr } = keeper;
  const leaving = atExit(() => kill(id));
  const close = async (): Promise<void> => {
    leaving[Symbol.dispose]();
    stdin.end();
    await keeper.gone();
    for (const stream of [stdout, stderr]) stream.destroy();
  };
  stdin.on("error", () => undefined);
  const refusal = async (what: string, said: string): Promise<StageUnavailable> => {
    stdin.end();
    const complaint = (await readUntil(stderr, "")).trim().split("\n").at(0)?.slice(0, 300) || "it did not say why.";
    await close();
    return refusedMounts(what, { complaint, hasNamespace: said.startsWith("namespace\n") });
  };
  const said = await readUntil(stdout, "mounted\n");
  keeper.letGo();
  if (said.endsWith("mounted\n")) {
    const merged = (root: StagedRoot) => join(`/proc/${id}/root`, root.directory, stageParts.merged);
    const areThere = () => !keeper.hasEnded() && existsSync(`/proc/${id}/root/`);
    const hasNetwork = network !== undefined;
    // On a second mount, the caches' overlays are not mounted again, but the list of caches stays the same.
    let areMounted = before !== undefined;
    const namespaces = ["--user", "--mount", ...(hasNetwork ? ["--net"] : [])];
    return {
      joinArguments: [systemProgram("nsenter"), `--target=${id}`, ...namespaces, "--preserve-credentials", "--"],
      isSeen: (process, mounts) => process !== id && mounts.includes(` ${mountName} `),
      settle: async () => undefined,
      view: (root) => overlayView(merged(root), before?.get(root.directory)),
      hasNetwork,
      get caches() {
        return areMounted ? caches : [];
      },
      mountCaches: async () => {
        if (areMounted) return;
        areMounted = true;
        if (ofCaches.length === 0) return;
        writeTables(ofCaches);
        stdin.write(`${ofCaches.length}\n`);
        if ((await readUntil(stdout, "mounted\n")) !== "mounted\n") throw await refusal("caches", said);
      },
      merged,
      areThere,
      again: async () => {
        const origins = new Map<string, Origins>();
        for (const root of roots)
          origins.set(root.directory, await originsIn(join(root.directory, stageParts.upper), merged(root)));
        await close();
        return mountAgain(roots, mountName, { network, caches: areMounted ? caches : [], before: origins });
      },
      close,
    };
  }
  throw await refusal(roots.map(({ path }) => path).join(", "), said);
}

function refusedMounts(
  what: string,
  { complaint, hasNamespace }: { readonly complaint: string; readonly hasNamespace: boolean },
): StageUnavailable {
  if (!hasNamespace) {
    return new StageUnavailable(
      "no_user_namespaces",
      `The system lets no user namespace be made: ${complaint}`,
      namespaceAdvice(complaint),
    );
  }
  if (!readFileSync("/proc/filesystems", "latin1").includes("\toverlay\n")) {
    return new StageUnavailable(
      "no_overlay",
      "This kernel has no overlay file system.",
      "Load it: sudo modprobe overlay.",
    );
  }
  return new StageUnavailable(
    "overlay_refused",
    `The system mounts no overlay over ${what}: ${complaint}`,
    "Use Linux 5.11 or newer, and put the workspace and GENNAI_STATE_DIR on ext4, xfs or btrfs.",
  );
}

/** Mounts again, and retries: the mounts of an ended command go a moment later. Throws `NotObservable` after five seconds. */
async function mountAgain(
  roots: readonly LayeredRoot[],
  mountName: string,
  options: KeeperOptions,
): Promise<MountKeeper> {
  const giveUp = performance.now() + vanishMs;
  for (;;) {
    try {
      for (const { directory } of roots) {
        // With `volatile`, the old work directory says that data may not be on disk, and the kernel would refuse it.
        const work = join(directory, stageParts.work);
        await removeTree(work);
        mkdirSync(work, { mode: 0o700 });
      }
      return await keepMounts(roots, mountName, options);
    } catch (cause) {
      if (!(cause instanceof StageUnavailable)) throw cause;
      if (performance.now() > giveUp) {
        throw new NotObservable("A background process still has a file of the command open.", { cause });
      }
      await sleep(20);
    }
  }
}

const vanishMs = 5_000;

/** Reads up to and including `end`; everything if it is empty. */
async function readUntil(stream: Readable, end: string): Promise<string> {
  let text = "";
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (end !== "" && text.endsWith(end)) break;
  }
  return text;
}
