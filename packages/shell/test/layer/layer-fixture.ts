import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { IgnoredPaths } from "@gennai/git/ignored-paths";
import { analyseCommand } from "@gennai/governance/command/analyse-command";
import { agreedControl } from "@gennai/governance/policies/files/agreed-control";
import { repositoryPaths } from "@gennai/machine/host/repository-paths";
import { commit } from "@gennai/stage/commit/commit";
import { takeLayerPart } from "@gennai/stage/commit/take-layer-part";
import { forgetCommit } from "@gennai/stage/commit/undo-commit";
import { SessionLayer } from "@gennai/stage/layer/session-layer";
import type { Stage } from "@gennai/stage/stage";
import { removeTransaction, type Transaction } from "@gennai/stage/transaction/transaction";
import { GitOnStage } from "#run/git-on-stage";
import { layerRules } from "#run/layer-rules";
import { mayBeHeld, rootAt, StageFixture } from "../../../stage/test/stage-fixture.ts";

/** What shows all of a directory but git's data: types, modes, links, contents. */
const listing =
  "find . -path ./.git -prune -o -printf '%y %m %p %l\\n' | LC_ALL=C sort; " +
  "find . -path ./.git -prune -o -type f -exec sha256sum {} + | LC_ALL=C sort";

export interface LayeredRun {
  readonly exitCode: number | undefined;
  readonly output: string;
  readonly dropped: readonly string[];
}

/** A repository, and a session with a layer over it. */
export class LayerFixture extends StageFixture {
  readonly session = "s1";
  /** A plain directory in which the same is done. */
  readonly bare: string;

  constructor(files: Readonly<Record<string, string>>) {
    super(files);
    // The server's git asks for it, and a user without a name has none.
    process.env["HOME"] ??= this.home;
    this.git("init", "-q", "-b", "main");
    this.git("add", "-A");
    this.git("commit", "-qm", "first");
    this.bare = join(this.base, "bare", "workspace");
  }

  /** From here on `bare` is what the workspace is now. */
  copy(): void {
    cpSync(this.root, this.bare, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  }

  layer(): Promise<SessionLayer | undefined> {
    return SessionLayer.open(this.stateDir, this.session, rootAt(this.root));
  }

  /** Runs a command that sees the layer, and keeps all that it did: in the layer, or in the workspace. */
  async command(
    text: string,
    options: { readonly confirmed?: boolean; readonly drop?: boolean; readonly dies?: boolean } = {},
  ): Promise<LayeredRun> {
    const layer = await this.layer();
    const dropped = (await layer?.renew()) ?? [];
    const stage = await this.stageOver(await this.coveredThrough(layer));
    const { transaction } = stage;
    try {
      const run = await stage.run(
        { text, cwd: this.root, environment: this.environment, timeoutMs: 60_000 },
        { signal: new AbortController().signal },
      );
      const observation = await stage.observe(this.#rules(stage, layer, text, options.confirmed), { mayBeHeld });
      await stage.close();
      const { exitCode, output } = run;
      if (options.drop === true) {
        await removeTransaction(transaction);
        return { exitCode, output, dropped };
      }
      const [root] = transaction.roots;
      if (observation.layer !== undefined && root !== undefined) {
        const marker = observation.markers[0] ?? 0n;
        await takeLayerPart(root, observation.layer.part, { session: this.session, command: text, marker });
      }
      await commit(transaction, observation, observation.effects);
      if (options.dies === true) {
        this.#abandon(transaction);
        return { exitCode, output, dropped };
      }
      await SessionLayer.adopt(this.stateDir, transaction);
      await forgetCommit(this.stateDir, transaction.id);
      return { exitCode, output, dropped };
    } finally {
      await stage.close();
    }
  }

  /** What a command of the session sees. */
  async seen(): Promise<string> {
    return (await this.command(listing, { drop: true })).output;
  }

  /** What is in the plain directory. */
  listBare(): string {
    return this.inBare(listing).output;
  }

  inBare(text: string): { readonly exitCode: number | null; readonly output: string } {
    const { status, stdout } = spawnSync("/bin/bash", ["-c", `exec 2>&1; ${text}`], {
      cwd: this.bare,
      env: { ...this.environment },
      encoding: "utf8",
    });
    return { exitCode: status, output: stdout };
  }

  /**
   * What of a directory git does not ignore, with its contents. Where the user has an ignored directory, git takes a file of
   * its name for one as well.
   */
  notIgnored(directory: string): string {
    const names = "git ls-files -co --exclude-standard | LC_ALL=C sort";
    const script = `${names} | while read -r f; do [ ! -f "$f" ] || sha256sum "$f"; done; git status --porcelain`;
    const output = execFileSync("/bin/bash", ["-c", script], {
      cwd: directory,
      env: { ...this.environment },
      encoding: "utf8",
    });
    return output.replaceAll(/^.* (?:.*\/)?(?:dist|out|node_modules)\n/gm, "");
  }

  coveredThrough(layer: SessionLayer | undefined) {
    return this.coveredRoots().look(layer);
  }

  /** As if the process that has it had died. */
  #abandon({ id, directory }: Transaction): void {
    const name = id.replace(/^\d+-\d+/, "4194303-1");
    const list = join(directory, "transaction.json");
    writeFileSync(list, readFileSync(list, "utf8").replaceAll(id, name));
    renameSync(directory, join(dirname(directory), name));
  }

  #rules(stage: Stage, layer: SessionLayer | undefined, text: string, confirmed = false) {
    const repository = repositoryPaths(this.root, this.home);
    if (repository === undefined) throw new Error("There is no repository.");
    const analysis = analyseCommand(text, { cwd: this.root, home: this.home, workspace: this.root });
    const ignored = new IgnoredPaths(repository.workTree);
    const agreed = confirmed ? agreedControl(analysis) : undefined;
    const git = new GitOnStage(stage, repository.workTree, this.environment);
    return layerRules(repository, { transaction: stage.transaction, git, ignored, layer, agreed, stays: () => false });
  }
}
