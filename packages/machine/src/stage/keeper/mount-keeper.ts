import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { atExit } from "../../process/at-exit.ts";
import { kill } from "../../process/helper/parked-shell.ts";
import { namespaceAdvice } from "../../sandbox/namespace-advice.ts";
import { removeTree } from "../files/remove-tree.ts";
import { type Origins, originsIn, overlayView, type StageView } from "../files/stage-view.ts";
import type { StagedCache } from "../layer/staged-caches.ts";
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
  /** Program and arguments by which a command comes to where the roots are. */
  readonly joinArguments: readonly string[];
  /** Whether a process sees them. @param mounts its `/proc/PID/mountinfo` */
  isSeen(process: number, mounts: string): boolean;
  /** Commands see the roots themselves, with something else at some paths, and can write to nothing of them. */
  readonly readOnly?: { readonly inPlace: readonly ShownPath[] };
  /** Commands that join it are in the network of their session. */
  readonly hasNetwork: boolean;
  /** Over which the run may write. */
  readonly caches: readonly StagedCache[];
  /** Has the run write over them; their directories are there. Throws `StageUnavailable`; nothing is mounted then. */
  mountCaches(): Promise<void>;
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
   * Mounts the same anew, when nobody has anything of it open any more: a process that was not a command of it may have been given a
   * file. Undefined where no such process can be.
   */
  again?(): Promise<MountKeeper>;
  /** Resolves when the mounts are gone. */
  close(): Promise<void>;
}

/** Absolute paths: what is to be seen at one of a root. */
export interface ShownPath {
  readonly path: string;
  readonly source: string;
}

export interface KeeperOptions {
  /** That commands are in; each has one of its own without. */
  readonly network?: SessionNetwork | undefined;
  /** Over which it may write, when these are mounted. */
  readonly caches?: readonly StagedCache[];
  /**
   * They were mounted before; refused while any file or directory of them is open. By root's directory, what was known then.
   */
  readonly before?: ReadonlyMap<string, Origins>;
}

/** Throws `StageUnavailable`: `no_user_namespaces`, or `overlay_refused` with what the system said. */
export async function keepMounts(
  roots: readonly LayeredRoot[],
  mountName: string,
  { network, caches = [], before }: KeeperOptions = {},
): Promise<MountKeeper> {
  // With an index, the kernel refuses directories that another overlay still has.
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
    // What a command wrote is mounted again with what it was told about them.
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
      namespaceAdvice(),
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

/** Up to this, or all. */
async function readUntil(stream: Readable, end: string): Promise<string> {
  let text = "";
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (end !== "" && text.endsWith(end)) break;
  }
  return text;
}
