import { ok } from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { CoveredRoots } from "@gennai/stage/cover/covered-roots";
import { dropMounts, mountRoots } from "@gennai/stage/mount/mounted-roots";
import { SessionNetwork } from "@gennai/stage/mount/session-network";
import { Stage } from "@gennai/stage/stage";
import { removeTransaction } from "@gennai/stage/transaction/transaction";
import { type BackgroundEnd, type BackgroundRun, startInBackground } from "#background/background-run";
import { StageFixture } from "../../../stage/test/stage-fixture.ts";

/** A workspace with a network, and what runs in the background there. */
export class BackgroundFixture implements AsyncDisposable {
  readonly stage: StageFixture;
  readonly network: SessionNetwork;
  readonly #runs: BackgroundRun[] = [];
  output = "";

  private constructor(stage: StageFixture, network: SessionNetwork) {
    this.stage = stage;
    this.network = network;
  }

  static async open(files: Readonly<Record<string, string>> = {}): Promise<BackgroundFixture> {
    const stage = new StageFixture(files);
    return new BackgroundFixture(stage, await SessionNetwork.open(stage.machine.bubblewrap));
  }

  /** Resolves when it has printed this. */
  async start(text: string, printed: string): Promise<BackgroundRun> {
    const { root, home, stateDir, machine, environment } = this.stage;
    const roots = new CoveredRoots(root, home, { always: machine.layout.hidden });
    const beside = async () => {
      const mounted = await mountRoots(stateDir, await roots.look(), this.network);
      return { machine, mounted, look: () => roots.look(), drop: () => dropMounts(mounted) };
    };
    const run = await startInBackground(
      { text, cwd: root, environment },
      {
        stages: { beside },
        zeroAccess: { sha256: "", covers: () => false },
        workspaceRoot: root,
        network: this.network,
      },
      { onOutput: (more) => (this.output += more) },
    );
    this.#runs.push(run);
    await this.prints(printed);
    return run;
  }

  /** What a command in the foreground prints. @param of the session, whose network it is in, or of another one */
  async foreground(text: string, of: "session" | "another" = "session"): Promise<string> {
    const { root, stateDir, machine, environment } = this.stage;
    const network = of === "session" ? this.network : undefined;
    const stage = await Stage.on(await mountRoots(stateDir, await this.stage.covered(), network), machine);
    try {
      const command = { text, cwd: root, environment, timeoutMs: 30_000 };
      return (await stage.run(command, { signal: new AbortController().signal })).output;
    } finally {
      await stage.close();
      await removeTransaction(stage.transaction);
    }
  }

  async prints(text: string): Promise<void> {
    await until(() => this.output.includes(text), `${text} is printed, after ${this.output}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#runs.map((run): Promise<BackgroundEnd> => run.stop()));
    this.network[Symbol.dispose]();
    await this.stage[Symbol.asyncDispose]();
  }
}

/** Fails after a while. @param what e.g. `the server answers` */
export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const giveUp = performance.now() + 20_000;
  while (!(await holds())) {
    ok(performance.now() < giveUp, `It never came that ${what}`);
    await sleep(20);
  }
}
