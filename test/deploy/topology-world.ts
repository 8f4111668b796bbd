import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { type AgentClient, connect } from "@gennai/client/connection/connection";
import { builtProgram } from "@gennai/testkit/built-program";
import {
  type TemporaryRepository,
  temporaryDirectory,
  temporaryRepository,
} from "@gennai/testkit/temporary-repository";
import type { ScriptedTurn } from "@gennai/testkit/test-server";
import { NatsCluster } from "../conformance/session-log/nats-cluster.ts";
import { copyLedgerKey } from "../conformance/session-log/shared-ledger-key.ts";
import { Balancer } from "./balancer.ts";
import { composeFile } from "./deploy-files.ts";

const program = builtProgram(new URL("../../packages/cli/src/main.ts", import.meta.url));
const token = "topology-token-of-forty-three-characters-00";
const startTimeout = 60_000;

interface Replica {
  child: ChildProcess | undefined;
  port: number;
  output: string;
}

/** What compose.yaml describes, as processes: three NATS nodes, three servers with its very arguments, a balancer. */
export class TopologyWorld implements AsyncDisposable {
  readonly cluster: NatsCluster;
  readonly workspace: TemporaryRepository;
  readonly replicas: readonly Replica[] = [0, 1, 2].map(() => ({ child: undefined, port: 0, output: "" }));
  readonly #environment: Readonly<Record<string, string>>;
  readonly #path: (name: string) => string;
  readonly #parts: AsyncDisposableStack;
  readonly balancer: Balancer;

  private constructor(
    things: Pick<TopologyWorld, "cluster" | "workspace" | "balancer"> & {
      readonly environment: Readonly<Record<string, string>>;
    },
    path: (name: string) => string,
    parts: AsyncDisposableStack,
  ) {
    this.cluster = things.cluster;
    this.workspace = things.workspace;
    this.balancer = things.balancer;
    this.#environment = things.environment;
    this.#path = path;
    this.#parts = parts;
  }

  static async start(
    script: readonly ScriptedTurn[],
    environment: Readonly<Record<string, string>>,
  ): Promise<TopologyWorld> {
    await using parts = new AsyncDisposableStack();
    const directory = parts.use(await temporaryDirectory());
    const workspace = parts.use(await temporaryRepository({ "README.md": "# Test\n" }));
    await workspace.git("checkout", "--quiet", "-b", "work");
    const cluster = parts.use(await NatsCluster.start(3));
    await writeFile(directory.path("script.yaml"), JSON.stringify({ turns: script }));
    const balancer = parts.use(await Balancer.start());
    const world = new TopologyWorld(
      { cluster, workspace, balancer, environment },
      (name) => directory.path(name),
      parts.move(),
    );
    try {
      for (const index of world.replicas.keys()) {
        await mkdir(world.#path(`state${index}`), { mode: 0o700 });
        if (index > 0) await copyLedgerKey(world.#path("state0"), world.#path(`state${index}`));
        await world.startReplica(index);
      }
      world.balanceAmong([0, 1, 2]);
      return world;
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Through the balancer, as clients come. */
  get client(): AgentClient {
    return connect({ baseUrl: `http://127.0.0.1:${this.balancer.port}`, token });
  }

  /** Of one replica, to choose whose a session is. */
  clientOf(index: number, traceParent?: string): AgentClient {
    const traced = traceParent === undefined ? {} : { traceParent };
    return connect({ baseUrl: `http://127.0.0.1:${this.portOf(index)}`, token, ...traced });
  }

  portOf(index: number): number {
    return this.replicas[index]?.port ?? 0;
  }

  get output(): string {
    return this.replicas.map(({ output }, index) => `--- replica ${index}\n${output}`).join("\n");
  }

  /** New connections go to these. */
  balanceAmong(indexes: readonly number[]): void {
    this.balancer.balance(indexes.map((index) => this.portOf(index)));
  }

  async startReplica(index: number): Promise<void> {
    const replica = this.replicas[index];
    if (replica === undefined || replica.child !== undefined) return;
    const child = spawn(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", program, ...this.#args(index, replica.port)],
      {
        cwd: this.workspace.root,
        env: {
          PATH: process.env["PATH"],
          HOME: this.#path(`state${index}`),
          GENNAI_STATE_DIR: this.#path(`state${index}`),
          GENNAI_AUTH_TOKEN: token,
          ...this.#environment,
        },
        stdio: ["ignore", "ignore", "pipe"],
      },
    );
    replica.child = child;
    replica.output = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      replica.output = (replica.output + text).slice(-20_000);
    });
    const deadline = performance.now() + startTimeout;
    for (;;) {
      const port = /Listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(replica.output)?.[1];
      if (port !== undefined) {
        replica.port = Number(port);
        return;
      }
      if (child.exitCode !== null || child.signalCode !== null || performance.now() > deadline)
        throw new Error(`Replica ${index} did not start.\n${this.output}`);
      await delay(100);
    }
  }

  /** Resolves when the process is gone, with how long that took. Milliseconds. */
  async end(index: number, signal: "SIGTERM" | "SIGKILL"): Promise<number> {
    const replica = this.replicas[index];
    const child = replica?.child;
    if (replica === undefined || child === undefined) return 0;
    replica.child = undefined;
    const began = performance.now();
    const ended = once(child, "exit");
    // One that ended by itself says so no more.
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await ended;
    }
    return performance.now() - began;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const index of this.replicas.keys()) await this.end(index, "SIGKILL");
    await this.#parts.disposeAsync();
  }

  /** Those of compose.yaml, with the places of this machine in place of the containers'. */
  #args(index: number, port: number): readonly string[] {
    const written = composeFile().services[`gennai-${index + 1}`]?.command ?? [];
    const places: Readonly<Record<string, string>> = {
      "--host": "127.0.0.1",
      "--port": String(port),
      "--log": this.cluster.address,
      "--workspace": this.workspace.root,
      "--metrics": "127.0.0.1:0",
      // The name by which clients come.
      "--allow-host": `127.0.0.1:${this.balancer.port}`,
    };
    const args = written.map((arg) => {
      const [name = ""] = arg.split("=", 1);
      return name in places ? `${name}=${places[name]}` : arg;
    });
    // A model that plays its part, and no sandbox, which differs between machines.
    return [...args, "--backend=scripted", `--model=${this.#path("script.yaml")}`, "--commands=ask"];
  }
}
