import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";

/** NATS servers on loopback with JetStream, as one cluster; each can be killed and started again over its own files. */
export class NatsCluster implements AsyncDisposable {
  readonly #directory: string;
  readonly #nodes: readonly { readonly name: string; readonly port: number; readonly config: string }[];
  readonly #processes: (ChildProcess | undefined)[];

  private constructor(directory: string, nodes: readonly { name: string; port: number; config: string }[]) {
    this.#directory = directory;
    this.#nodes = nodes;
    this.#processes = nodes.map(() => undefined);
  }

  /** Resolves when a stream with a replica on every node can be made. */
  static async start(size: number): Promise<NatsCluster> {
    const directory = await mkdtemp(join(tmpdir(), "gennai-nats-"));
    const ports = await freePorts(size * 2);
    const routes = ports.slice(size).map((port) => `nats://127.0.0.1:${port}`);
    const nodes = await Promise.all(
      Array.from({ length: size }, async (_, index) => {
        const name = `node${index}`;
        const port = ports[index] ?? 0;
        const config = join(directory, `${name}.conf`);
        await writeFile(
          config,
          [
            `server_name: ${name}`,
            `listen: 127.0.0.1:${port}`,
            `jetstream { store_dir: ${JSON.stringify(join(directory, name))}, max_file: 4G, max_mem: 256M }`,
            ...(size === 1
              ? []
              : [`cluster { name: test, listen: 127.0.0.1:${ports[size + index]}, routes: [${routes.join(", ")}] }`]),
          ].join("\n"),
        );
        return { name, port, config };
      }),
    );
    const cluster = new NatsCluster(directory, nodes);
    try {
      for (const index of nodes.keys()) await cluster.startNode(index);
      await cluster.#ready();
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  get size(): number {
    return this.#nodes.length;
  }

  /** Addresses of all nodes, with commas. */
  get address(): string {
    return `nats://${this.#nodes.map(({ port }) => `127.0.0.1:${port}`).join(",")}`;
  }

  port(index: number): number {
    return this.#nodes[index]?.port ?? 0;
  }

  isRunning(index: number): boolean {
    return this.#processes[index] !== undefined;
  }

  /** Index of the leader of a stream; -1 while there is none. */
  async leaderOf(stream: string): Promise<number> {
    const connection = await connect({ servers: this.#servers() });
    try {
      const info = await (await jetstreamManager(connection)).streams.info(stream);
      return this.#nodes.findIndex(({ name }) => name === info.cluster?.leader);
    } catch {
      return -1;
    } finally {
      await connection.close();
    }
  }

  async startNode(index: number): Promise<void> {
    const node = this.#nodes[index];
    if (node === undefined || this.#processes[index] !== undefined) return;
    const process = spawn(natsServer(), ["-c", node.config], { stdio: "ignore" });
    process.on("error", () => undefined);
    this.#processes[index] = process;
    for (let attempt = 0; attempt < 100; attempt++) {
      if (await answers(node.port)) return;
      await delay(50);
    }
    throw new Error(`nats-server ${node.name} does not answer.`);
  }

  /** Like a power cut of that node's process: nothing is said, nothing is flushed. */
  async killNode(index: number): Promise<void> {
    const process = this.#processes[index];
    if (process === undefined) return;
    this.#processes[index] = undefined;
    const ended = new Promise((resolve) => process.once("exit", resolve));
    process.kill("SIGKILL");
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const index of this.#nodes.keys()) await this.killNode(index);
    await rm(this.#directory, { recursive: true, force: true, maxRetries: 5 });
  }

  #servers(): string[] {
    return this.#nodes.map(({ port }) => `127.0.0.1:${port}`);
  }

  async #ready(): Promise<void> {
    const connection = await connect({ servers: this.#servers() });
    try {
      for (let attempt = 0; ; attempt++) {
        try {
          const manager = await jetstreamManager(connection);
          await manager.streams.add({ name: "probe", subjects: ["probe"], num_replicas: this.size });
          await manager.streams.delete("probe");
          return;
        } catch (error) {
          if (attempt === 100) throw error;
          await delay(200);
        }
      }
    } finally {
      await connection.close();
    }
  }
}

function natsServer(): string {
  return (
    [
      "/usr/sbin/nats-server",
      "/usr/bin/nats-server",
      "/usr/local/bin/nats-server",
      "/opt/homebrew/bin/nats-server",
    ].find(existsSync) ?? "nats-server"
  );
}

async function answers(port: number): Promise<boolean> {
  try {
    const connection = await connect({ servers: `127.0.0.1:${port}`, timeout: 1000, reconnect: false });
    await connection.close();
    return true;
  } catch {
    return false;
  }
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => {
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  });
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
