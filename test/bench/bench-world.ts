import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { GennaiServer } from "./gennai-server.ts";
import { LineProcess } from "./line-process.ts";
import {
  largeFile,
  largeFileLines,
  lineOfLargeFile,
  partFile,
  readFile,
  readFiles,
  smallFile,
} from "./model-script.ts";

export interface BenchOptions {
  /** The numbers of the page; else about a quarter of the work. */
  readonly full: boolean;
  /** Directory for CPU profiles of the servers. */
  readonly profileDirectory: string | undefined;
}

const programNames = ["model-server", "floor-agent", "raw-stream-server", "stream-client", "empty"] as const;
type ProgramName = (typeof programNames)[number];

/** Where measures run: programs, workspaces, the scripted model. Disposing takes all of it away. */
export class BenchWorld implements AsyncDisposable {
  readonly options: BenchOptions;
  readonly #directory = realpathSync(mkdtempSync(join(tmpdir(), "gennai-bench-")));
  readonly #processes = new AsyncDisposableStack();
  #modelUrl = "";
  #runs = 0;

  private constructor(options: BenchOptions) {
    this.options = options;
  }

  static async open(options: BenchOptions): Promise<BenchWorld> {
    const world = new BenchWorld(options);
    await build({
      entryPoints: programNames.map((name) => join(import.meta.dirname, "programs", `${name}.ts`)),
      outdir: join(world.#directory, "programs"),
      outExtension: { ".js": ".mjs" },
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node22",
      logLevel: "error",
    });
    world.#modelUrl = `http://127.0.0.1:${await world.process("model-server").line()}`;
    return world;
  }

  /** A number of rounds or turns: the first in full mode, the second in quick mode. */
  choose(full: number, quick: number): number {
    return this.options.full ? full : quick;
  }

  get modelUrl(): string {
    return this.#modelUrl;
  }

  program(name: ProgramName): string {
    return join(this.#directory, "programs", `${name}.mjs`);
  }

  /** Starts a program that lives as long as the world. */
  process(name: ProgramName): LineProcess {
    return this.#processes.use(new LineProcess(this.program(name)));
  }

  /** A run of the scripted model, with a base URL of its own, so that its gaps can be told apart. */
  modelRun(script: string): ModelRun {
    const key = `run-${(this.#runs += 1)}`;
    return {
      baseUrl: `${this.#modelUrl}/${key}/${script}/v1`,
      gaps: async () => {
        const gaps = (await (await fetch(`${this.#modelUrl}/gaps/${key}`)).json()) as number[];
        const calls = Number(/^[a-z]+-(\d+)/.exec(script)?.[1]);
        if (gaps.length !== calls) throw new Error(`${script} came to ${gaps.length} calls: it measures nothing.`);
        return gaps;
      },
      firstRequest: async () => {
        const time = (await (await fetch(`${this.#modelUrl}/first/${key}`)).json()) as string;
        if (time === "") throw new Error("The model was never asked.");
        return BigInt(time);
      },
    };
  }

  directory(): string {
    const path = join(this.#directory, randomUUID());
    mkdirSync(path);
    return path;
  }

  /** A git working tree on a feature branch, with the files of the scripts. */
  workspace(): string {
    const root = this.directory();
    const lines = (count: number) =>
      Array.from({ length: count }, (_, index) => `${lineOfLargeFile(index + 1)}\n`).join("");
    const files: Record<string, string> = { [smallFile]: lines(40), [largeFile]: lines(largeFileLines) };
    for (let part = 1; part <= 8; part += 1) files[partFile(part)] = lines(40);
    for (let index = 0; index < readFiles; index += 1) files[readFile(index)] = `// ${index}\n${lines(40)}`;
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    const identity = ["-c", "user.name=Bench", "-c", "user.email=bench@localhost", "-c", "commit.gpgSign=false"];
    for (const args of [
      ["init", "-q", "-b", "main"],
      ["add", "."],
      ["commit", "-q", "-m", "first"],
      ["switch", "-q", "-c", "bench"],
    ]) {
      execFileSync("git", [...identity, ...args], { cwd: root });
    }
    return root;
  }

  server(
    workspace = this.workspace(),
    commands?: "staged" | "ask",
    args: readonly string[] = [],
  ): Promise<GennaiServer> {
    return GennaiServer.start({
      workspace,
      commands,
      args,
      stateDirectory: this.directory(),
      profileDirectory: this.options.profileDirectory,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#processes.disposeAsync();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

export interface ModelRun {
  readonly baseUrl: string;
  /** Milliseconds from the end of each answer to the next request. */
  gaps(): Promise<readonly number[]>;
  /** When its first request came: nanoseconds, as `process.hrtime` tells them in every process. */
  firstRequest(): Promise<bigint>;
}
