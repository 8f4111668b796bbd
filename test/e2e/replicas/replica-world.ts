import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import {
  type AgentClient,
  connect,
  connectGovernance,
  type GovernanceClient,
} from "@gennai/client/connection/connection";
import { builtProgram } from "@gennai/testkit/built-program";
import {
  type TemporaryRepository,
  temporaryDirectory,
  temporaryRepository,
} from "@gennai/testkit/temporary-repository";
import type { ScriptedTurn } from "@gennai/testkit/test-server";
import { NatsCluster } from "../../conformance/session-log/nats-cluster.ts";
import { copyLedgerKey } from "../../conformance/session-log/shared-ledger-key.ts";

const program = builtProgram(new URL("../../crash/server/serving-process.ts", import.meta.url));
const token = "t".repeat(43);

/** Three servers in processes of their own over one log on three NATS nodes, all of which can be killed. */
export class ReplicaWorld implements AsyncDisposable {
  /** undefined: one server on SQLite. */
  readonly #cluster: NatsCluster | undefined;
  readonly workspace: TemporaryRepository;
  readonly #parts: AsyncDisposableStack;
  readonly #path: (name: string) => string;
  readonly #replicas: { child: ChildProcess | undefined; port: number; output: string }[] = [];

  private constructor(
    cluster: NatsCluster | undefined,
    workspace: TemporaryRepository,
    path: (name: string) => string,
    parts: AsyncDisposableStack,
  ) {
    this.#cluster = cluster;
    this.workspace = workspace;
    this.#path = path;
    this.#parts = parts;
  }

  static async start(options: {
    readonly replicas: number;
    /** 0: no log that is shared; then there is one server. */
    readonly nodes: number;
    readonly script: readonly ScriptedTurn[];
  }): Promise<ReplicaWorld> {
    await using parts = new AsyncDisposableStack();
    const directory = parts.use(await temporaryDirectory());
    const workspace = parts.use(await temporaryRepository({ "README.md": "# Test\n" }));
    await workspace.git("checkout", "--quiet", "-b", "work");
    const cluster = options.nodes === 0 ? undefined : parts.use(await NatsCluster.start(options.nodes));
    await writeFile(directory.path("script.yaml"), JSON.stringify({ turns: options.script }));
    const world = new ReplicaWorld(cluster, workspace, (name) => directory.path(name), parts.move());
    try {
      for (let index = 0; index < options.replicas; index++) {
        const stateDir = world.stateDir(index);
        await mkdir(stateDir, { mode: 0o700 });
        if (index > 0) await copyLedgerKey(world.stateDir(0), stateDir);
        world.#replicas.push({ child: undefined, port: 0, output: "" });
        await world.startReplica(index);
      }
      return world;
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
  }

  get cluster(): NatsCluster {
    if (this.#cluster === undefined) throw new TypeError("There is no cluster.");
    return this.#cluster;
  }

  stateDir(index: number): string {
    return this.#path(`state${index}`);
  }

  /** Of a replica, with connections of its own. */
  client(index: number): AgentClient {
    return connect({ baseUrl: `http://127.0.0.1:${this.#replicas[index]?.port}`, token });
  }

  governance(index: number): GovernanceClient {
    return connectGovernance({ baseUrl: `http://127.0.0.1:${this.#replicas[index]?.port}`, token });
  }

  /** Of a running replica. */
  processId(index: number): number {
    const id = this.#replicas[index]?.child?.pid;
    if (id === undefined) throw new TypeError(`Replica ${index} does not run.`);
    return id;
  }

  isRunning(index: number): boolean {
    return this.#replicas[index]?.child !== undefined;
  }

  /** What all replicas wrote to their logs. */
  get output(): string {
    return this.#replicas.map(({ output }, index) => `--- replica ${index}\n${output}`).join("\n");
  }

  async startReplica(index: number): Promise<void> {
    const replica = this.#replicas[index];
    if (replica === undefined || replica.child !== undefined) return;
    const options = {
      port: replica.port,
      token,
      stateDir: this.stateDir(index),
      workspace: this.workspace.root,
      script: this.#path("script.yaml"),
      sharedLog: this.#cluster?.address,
      interactive: true,
      confirmation: { answerMs: 60_000, waitForClientMs: 60_000 },
    };
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", program, JSON.stringify(options)], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    replica.child = child;
    child.stderr.on("data", (chunk: Buffer) => {
      replica.output = (replica.output + chunk.toString()).slice(-8_000);
    });
    const line = await Promise.race([
      once(child.stdout, "data").then(([chunk]) => String(chunk)),
      once(child, "exit").then(() => ""),
    ]);
    if (line === "") throw new Error(`Replica ${index} ended:\n${replica.output}`);
    replica.port = Number(line);
  }

  async killReplica(index: number, signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const replica = this.#replicas[index];
    const child = replica?.child;
    if (replica === undefined || child === undefined) return;
    replica.child = undefined;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const index of this.#replicas.keys()) await this.killReplica(index);
    await this.#parts.disposeAsync();
  }
}
