import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type AgentClient, connect } from "@gennai/client/connection/connection";
import {
  type Files,
  type TemporaryRepository,
  temporaryDirectory,
  temporaryRepository,
} from "@gennai/testkit/temporary-repository";
import type { ScriptedTurn } from "@gennai/testkit/test-server";
import * as z from "zod";
import { SupervisedProcess } from "./supervised-process.ts";

/** As people start it; `npm test` builds it. */
const program = fileURLToPath(new URL("../../../dist/gennai.mjs", import.meta.url));
const startTimeoutMs = 30_000;

export interface ServeOptions {
  /** What the workspace holds, committed on its branch `work`. */
  readonly files?: Files;
  /** Used instead of a workspace of its own, and left where it is. */
  readonly workspace?: TemporaryRepository;
  /** Absolute path, used instead of one of its own and left where it is. */
  readonly stateDirectory?: string;
  /** What the model says; without it, the offline assistant answers. */
  readonly script?: readonly ScriptedTurn[];
  /** What a million tokens of the script's model cost, in USD; without it no cost is known. */
  readonly prices?: { readonly input: number; readonly output: number };
  /** A free one when left out. */
  readonly port?: number;
  /** How many files and connections it may have open. */
  readonly openFiles?: number;
  /** Further arguments of `gennai serve`. */
  readonly args?: readonly string[];
}

export interface ServedGennai extends AsyncDisposable {
  /** e.g. `http://127.0.0.1:41234`. */
  readonly url: string;
  readonly port: number;
  readonly token: string;
  readonly stateDirectory: string;
  readonly workspace: TemporaryRepository;
  readonly client: AgentClient;
  /** The last of what it wrote. */
  readonly output: string;
  /** Ends it as a machine does that breaks down: it hears nothing of it. */
  kill(): Promise<void>;
  /** Ends it and starts it again, on the same port, state and token. */
  restart(): Promise<void>;
}

/** `gennai serve` in a process of its own, with state of its own. Disposing ends it and removes both. */
export async function serveGennai(options: ServeOptions = {}): Promise<ServedGennai> {
  await using parts = new AsyncDisposableStack();
  const home = parts.use(
    await temporaryDirectory({ ".gitconfig": "[user]\n\tname = Test\n\temail = test@localhost\n" }),
  );
  const stateDirectory = options.stateDirectory ?? home.path("state");
  const workspace = options.workspace ?? parts.use(await ownWorkspace(options.files ?? {}));
  const token = "e2e-token-of-forty-three-characters-0000000";
  const limited = `${options.openFiles === undefined ? "" : `ulimit -n ${options.openFiles}; `}exec "$@"`;
  const start = (port: number) =>
    new SupervisedProcess(
      "/bin/sh",
      ["-c", limited, "sh", process.execPath, program, "serve", "--port", String(port), ...args],
      {
        cwd: workspace.root,
        environment: { ...process.env, GENNAI_AUTH_TOKEN: token, GENNAI_STATE_DIR: stateDirectory, HOME: home.root },
      },
    );
  const args = ["--workspace", workspace.root, "--commands", "ask", ...(options.args ?? [])];
  if (options.script !== undefined) {
    // JSON is YAML.
    await home.write("script.yaml", JSON.stringify({ turns: options.script }));
    args.push("--backend", "scripted", "--model", home.path("script.yaml"));
    const priced = { models: { [home.path("script.yaml")]: options.prices } };
    if (options.prices !== undefined) await home.write(".config/gennai/models.json", JSON.stringify(priced));
  }
  const listening = (server: SupervisedProcess) =>
    server.printed(/listening on (http:\/\/[\d.:]+)/, { timeoutMs: startTimeoutMs });

  let server = start(options.port ?? 0);
  parts.defer(() => server[Symbol.asyncDispose]());
  const url = await listening(server);
  const port = Number(new URL(url).port);
  const owned = parts.move();
  return {
    url,
    port,
    token,
    stateDirectory,
    workspace,
    client: connect({ baseUrl: url, token }),
    get output() {
      return server.output;
    },
    async kill() {
      process.kill(await serverPid(stateDirectory), "SIGKILL");
    },
    async restart() {
      await server[Symbol.asyncDispose]();
      server = start(port);
      await listening(server);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Process of the server that announces itself there. */
export async function serverPid(stateDirectory: string): Promise<number> {
  const servers = join(stateDirectory, "servers");
  const [name] = (await readdir(servers)).filter((file) => file.endsWith(".json"));
  if (name === undefined) throw new Error("No server announces itself.");
  return z.object({ pid: z.int() }).parse(JSON.parse(await readFile(join(servers, name), "utf8"))).pid;
}

async function ownWorkspace(files: Files): Promise<TemporaryRepository> {
  return temporaryRepository({ "README.md": "# Test\n", ...files }, { branch: "work" });
}
