import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { resolverSettings, WatchedNetwork, type WatchedNetworkOptions } from "@gennai/egress/network/watched-network";
import { type Outside, theInternet, wayOut } from "@gennai/egress/network/way-out";
import type { Endpoint } from "@gennai/governance/endpoint";
import { repositoryPaths } from "@gennai/machine/host/repository-paths";
import type { CommandsMode } from "@gennai/protocol/commands-mode";
import { ReplacedFiles } from "@gennai/stage/commit/replaced-files";
import { waysBack } from "@gennai/stage/commit/way-back";
import { type CoveredRoot, CoveredRoots } from "@gennai/stage/cover/covered-roots";
import type { ControlLeads } from "@gennai/stage/cover/covered-tree";
import { stageRoots } from "@gennai/stage/cover/stage-roots";
import { SessionLayer } from "@gennai/stage/layer/session-layer";
import { type CachesOfRun, dropMounts, type MountedRoots, mountRoots } from "@gennai/stage/mount/mounted-roots";
import { MountsAhead } from "@gennai/stage/mount/mounts-ahead";
import type { StageSupport } from "@gennai/stage/mount/probe-stage";
import { canBeSeen } from "@gennai/stage/mount/roots-themselves";
import type { SessionNetwork } from "@gennai/stage/mount/session-network";
import type { ShellMachine, ShellSandbox } from "@gennai/stage/sandbox/shell-sandbox";
import { Stage } from "@gennai/stage/stage";
import { StageUnavailable } from "@gennai/stage/transaction/stage-error";
import { removeTransaction } from "@gennai/stage/transaction/transaction";
import { BackgroundWork } from "./background-work.ts";
import { type OpenStage, OpenStages } from "./open-stages.ts";
import { OpenedNames } from "./opened-names.ts";
import { RecentMounts } from "./recent-mounts.ts";
import { StageSupports } from "./stage-supports.ts";

export interface StagesOptions {
  readonly shell: Pick<ShellSandbox, "machineFor">;
  /** Private, real path. */
  readonly stateDir: string;
  /** The user's. */
  readonly home: string;
  /** `auto` by default. */
  readonly mode?: Exclude<CommandsMode, "ask">;
  /** The network that this machine is on, by default. */
  readonly outside?: Outside | undefined;
}

/** What rules hide from everybody, besides files with the names of secrets. */
export interface ZeroAccess {
  /** SHA-256 of the rules. */
  readonly sha256: string;
  /** @param path absolute */
  covers(path: string): boolean;
}

/** The mounts of a run that goes on beside commands. */
export interface StageBeside {
  readonly machine: ShellMachine;
  readonly mounted: MountedRoots;
  /** The paths to hide now. Throws rather than leave anything out. */
  look(): Promise<readonly CoveredRoot[]>;
  /** Call it when no process of the run is left. */
  drop(): Promise<void>;
}

/** What a command sees besides the workspace; without `network`, its own. It goes on with what is in `open`. */
interface SeenByRun {
  readonly network?: SessionNetwork | undefined;
  readonly caches?: CachesOfRun | undefined;
  readonly open?: OpenStage | undefined;
}

export interface LayeredStage {
  readonly stage: Stage;
  /** The session's layer over the workspace. */
  readonly layer: SessionLayer | undefined;
  /** Trees of the layer that the command does not see, because the workspace's versions changed meanwhile. */
  readonly dropped: readonly string[];
  /** Makes the mounts for the next command while this one runs; this one must not change what they depend on. */
  prepareNext(): void;
}

/** Stages for the commands of each workspace. */
export class Stages implements AsyncDisposable {
  readonly #options: StagesOptions;
  readonly #roots = new Map<string, { readonly rules: string; readonly roots: CoveredRoots }>();
  readonly #supports: StageSupports;
  readonly #ahead: RecentMounts;
  readonly #background = new BackgroundWork();
  /** Resolves when the stages given back are ready for the next run, or removed. */
  #returned: Promise<void> = Promise.resolve();
  /** Runs that go on, with the workspace beside whose commands each runs. */
  readonly #beside = new Map<object, string>();
  readonly names = new OpenedNames();
  readonly open: OpenStages;
  /** Files that commits replaced. */
  readonly replaced: ReplacedFiles;

  /** Call it after `recoverChanges`. */
  constructor(options: StagesOptions) {
    this.#options = options;
    this.replaced = new ReplacedFiles(options.stateDir);
    this.#supports = new StageSupports(options, this.#background);
    this.open = new OpenStages(options.stateDir, options.home);
    this.#ahead = new RecentMounts((workspaceRoot) => {
      return new MountsAhead(options.stateDir, options.shell.machineFor(workspaceRoot).layout.caches);
    });
  }

  get home(): string {
    return this.#options.home;
  }

  get stateDir(): string {
    return this.#options.stateDir;
  }

  /** Records of commits whose earlier files are kept for a session, newest first. */
  recordsOf(session: string): readonly unknown[] {
    return waysBack(this.stateDir).flatMap((way) => (way.session === session ? [way.record] : []));
  }

  get mode(): Exclude<CommandsMode, "ask"> {
    return this.#options.mode ?? "auto";
  }

  /** Whether commands of a workspace can be staged; tried once. @param workspaceRoot real path */
  support(workspaceRoot: string): Promise<StageSupport> {
    return this.#supports.of(workspaceRoot);
  }

  /** Why a workspace's commands cannot be staged; undefined if they can, and until that was tried. */
  knownObstacle(workspaceRoot: string): string | undefined {
    return this.#supports.knownObstacle(workspaceRoot);
  }

  /** What leads to files that tools obey, as of the last stage made for the workspace. */
  leads(workspaceRoot: string): ControlLeads {
    return this.#roots.get(workspaceRoot)?.roots.leads ?? { links: [], configurations: [] };
  }

  /**
   * A stage for one command; waits until nothing else uses an open one. Throws `StageUnavailable` and `UnprotectedWorkspace`;
   * nothing is left behind then.
   *
   * @param session whose layer the command sees, if there is one
   * @param reads whether the command certainly only reads; called after the workspace was examined
   */
  async stage(
    workspaceRoot: string,
    zeroAccess: ZeroAccess,
    {
      network,
      session,
      caches,
      reads = () => false,
      open,
    }: SeenByRun & { readonly session?: string | undefined; readonly reads?: () => boolean } = {},
  ): Promise<LayeredStage> {
    using held = new DisposableStack();
    if (open !== undefined) held.defer(await this.open.take(open));
    const machine = this.#machineFor(workspaceRoot);
    const roots = this.#rootsOf(workspaceRoot, zeroAccess, machine);
    const layer = session === undefined ? undefined : await this.layer(workspaceRoot, session);
    const dropped = [...((await layer?.renew()) ?? [])];
    const covered = await lookThrough(roots, layer, dropped);
    const mounted =
      open === undefined && canBeSeen(covered) && reads()
        ? await this.#ahead.of(workspaceRoot).themselves(covered, network)
        : await this.#mounted(workspaceRoot, covered, { network, caches, open });
    const prepareNext = (): void => {
      // The network of a run that fetches belongs to that run alone.
      if (mounted.laid === undefined || mounted.mounts.readOnly !== undefined || caches?.all || open) return;
      this.#background.begin(async () => this.#ahead.of(workspaceRoot).prepare(covered, network));
    };
    const stage = await Stage.on(mounted, machine, open?.markers.map(BigInt));
    const free = held.move();
    stage.onClosed(() => free.dispose());
    return { stage, layer, dropped, prepareNext };
  }

  async #mounted(
    workspaceRoot: string,
    covered: readonly CoveredRoot[],
    { network, caches = {}, open }: SeenByRun,
  ): Promise<MountedRoots> {
    const { noOverlay } = await this.#supports.needed(workspaceRoot);
    const { layout } = this.#machineFor(workspaceRoot);
    const going = { ...caches, open: open?.transaction };
    if (noOverlay === undefined) {
      return open === undefined
        ? this.#ahead.of(workspaceRoot).take(covered, network, caches)
        : mountRoots(this.stateDir, covered, network, layout.caches, going);
    }
    try {
      return await mountRoots(this.stateDir, covered, network, layout.caches, { ...going, stagedBy: "copy" });
    } catch (error) {
      if (error instanceof StageUnavailable && error.obstacle === "too_large")
        this.#supports.tooLarge(workspaceRoot, error);
      throw error;
    }
  }

  /**
   * The mounts for a run that goes on and whose changes are never looked at. Throws as `stage` does.
   * @param session whose layer, as it is now, the run sees
   */
  async beside(
    workspaceRoot: string,
    zeroAccess: ZeroAccess,
    network: SessionNetwork,
    session?: string,
  ): Promise<StageBeside> {
    const machine = this.#machineFor(workspaceRoot);
    const { noOverlay } = await this.#supports.needed(workspaceRoot);
    if (noOverlay !== undefined) {
      const { obstacle, reason, advice } = noOverlay;
      throw new StageUnavailable(
        obstacle,
        `Commands run on copies here, in which later edits do not show. ${reason}`,
        advice,
      );
    }
    const roots = this.#rootsOf(workspaceRoot, zeroAccess, machine);
    const layer = session === undefined ? undefined : await this.layer(workspaceRoot, session);
    await layer?.renew();
    const covered = await lookThrough(roots, layer, []);
    const mounted = await mountRoots(this.stateDir, covered, network, machine.layout.caches);
    const run = {};
    this.#beside.set(run, workspaceRoot);
    const drop = async (): Promise<void> => {
      this.#beside.delete(run);
      await dropMounts(mounted);
    };
    return { machine, mounted, look: () => roots.look(layer), drop };
  }

  /**
   * Takes back the stage of a run that left nothing, in the background, so that the next run gets its directories. Only if no run
   * goes on beside it.
   */
  giveBack(workspaceRoot: string, stage: Stage): void {
    const giving = async (): Promise<void> => {
      const spare = await stage.closeForAnother();
      const ahead = this.#background.hasEnded ? undefined : this.#ahead.known(workspaceRoot);
      if (spare === undefined || ahead === undefined) await removeTransaction(stage.transaction);
      else await ahead.keep(spare);
    };
    // Left-over directories only take space until the next start.
    this.#returned = this.#background.add(giving());
  }

  /**
   * Whether a run goes on beside a workspace's commands. It shares a network and `/tmp` with them, so that open files can be
   * passed.
   */
  hasBeside(workspaceRoot: string): boolean {
    return [...this.#beside.values()].includes(workspaceRoot);
  }

  /**
   * A network for commands. Throws `StageUnavailable`, and `Error` if nothing can listen in it.
   * @param allowed for one command: nothing else may run in the network then
   * @param logins for some of `allowed`
   */
  async openNetwork(
    workspaceRoot: string,
    ways: Pick<WatchedNetworkOptions, "allowed" | "logins" | "ask"> = {},
  ): Promise<WatchedNetwork> {
    const { bubblewrap } = this.#machineFor(workspaceRoot);
    writeFileSync(this.resolver, resolverSettings, { mode: 0o644 });
    return WatchedNetwork.open({ ...ways, bubblewrap, outside: this.#options.outside });
  }

  /** The address of a host in one of this machine's own networks; undefined for any other host. */
  async privateAddress(endpoint: Endpoint): Promise<string | undefined> {
    const way = await wayOut(endpoint, this.#options.outside ?? theInternet);
    return way.type === "private" ? way.address : undefined;
  }

  /** Path of the file that commands in such a network see as `/etc/resolv.conf`. */
  get resolver(): string {
    return join(this.#options.stateDir, "resolv.conf");
  }

  /** The layer of a session over a workspace; undefined if it has none. */
  async layer(workspaceRoot: string, session: string): Promise<SessionLayer | undefined> {
    const [workTree] = stageRoots(workspaceRoot, this.#options.home);
    return workTree === undefined ? undefined : SessionLayer.open(this.#options.stateDir, session, workTree);
  }

  /**
   * Makes the mounts for the next command, in the background. Call it when the last command's work was kept or dropped.
   * @param layer of the last command's session
   * @param network of that session
   */
  prepare(workspaceRoot: string, layer?: SessionLayer, network?: SessionNetwork): void {
    const returned = this.#returned;
    this.#background.begin(async (signal) => {
      await returned;
      const known = this.#roots.get(workspaceRoot);
      if (known === undefined || !(await this.#supports.hasOverlays(workspaceRoot))) return;
      await this.#prepare(workspaceRoot, { looking: known.roots.look(layer, signal), network }, signal);
    });
  }

  /**
   * Makes the mounts for a workspace's first command, in the background, so that it need not wait until the workspace is
   * examined.
   * @param openNetwork of the session that will run it
   */
  warmUp(workspaceRoot: string, zeroAccess: ZeroAccess, openNetwork: () => Promise<WatchedNetwork | undefined>): void {
    this.#background.begin(async (signal) => {
      if (!(await this.#supports.hasOverlays(workspaceRoot))) return;
      const machine = this.#machineFor(workspaceRoot);
      const roots = this.#rootsOf(workspaceRoot, zeroAccess, machine);
      const network = (await openNetwork())?.network;
      await this.#prepare(workspaceRoot, { looking: roots.look(undefined, signal), network }, signal);
    });
  }

  async #prepare(
    workspaceRoot: string,
    {
      looking,
      network,
    }: { readonly looking: Promise<readonly CoveredRoot[]>; readonly network?: SessionNetwork | undefined },
    signal: AbortSignal,
  ): Promise<void> {
    const covered = await looking;
    signal.throwIfAborted();
    this.#ahead.of(workspaceRoot).prepare(covered, network);
  }

  /** Call it when a workspace and all its sessions are gone: nothing is kept ready for it. */
  async forget(workspaceRoot: string): Promise<void> {
    await this.#background.idle();
    this.#roots.delete(workspaceRoot);
    this.#supports.forget(workspaceRoot);
    await this.#ahead.forget(workspaceRoot);
  }

  /** Call it when nothing will be staged any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#background[Symbol.asyncDispose]();
    await this.#ahead[Symbol.asyncDispose]();
  }

  #machineFor(workspaceRoot: string): ShellMachine {
    return this.names.on(this.#options.shell.machineFor(workspaceRoot), workspaceRoot);
  }

  #rootsOf(workspaceRoot: string, zeroAccess: ZeroAccess, { layout }: ShellMachine): CoveredRoots {
    const { stateDir, home } = this.#options;
    const known = this.#roots.get(workspaceRoot);
    if (known?.rules === zeroAccess.sha256) return known.roots;
    const top = repositoryPaths(workspaceRoot, home)?.workTree ?? workspaceRoot;
    const isZeroAccess = (path: string): boolean => zeroAccess.covers(join(top, path));
    const targets = join(stateDir, "secret-targets");
    const roots = new CoveredRoots(workspaceRoot, home, { always: layout.hidden, isZeroAccess, targets });
    this.#roots.set(workspaceRoot, { rules: zeroAccess.sha256, roots });
    return roots;
  }
}

/** Drops a layer that cannot be examined, because secrets in it would show. */
async function lookThrough(
  roots: CoveredRoots,
  layer: SessionLayer | undefined,
  dropped: string[],
): Promise<readonly CoveredRoot[]> {
  try {
    return await roots.look(layer);
  } catch (error) {
    if (layer === undefined || layer.trees.length === 0) throw error;
    // Throws if the workspace itself is the cause.
    await roots.look();
    dropped.push(...(await layer.drop(layer.trees.map(({ path }) => path))));
    return roots.look(layer);
  }
}
