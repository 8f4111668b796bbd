import { type AgentClient, connect } from "@gennai/client/connection/connection";
import { builtProgram } from "@gennai/testkit/built-program";
import {
  type Files,
  type TemporaryRepository,
  temporaryDirectory,
  temporaryRepository,
} from "@gennai/testkit/temporary-repository";
import type { ScriptedTurn } from "@gennai/testkit/test-server";
import { SupervisedProcess } from "../process/supervised-process.ts";

const program = builtProgram(new URL("../../../packages/cli/src/main.ts", import.meta.url));

export interface WatchedServer extends AsyncDisposable {
  readonly client: AgentClient;
  readonly url: string;
  readonly token: string;
  readonly metricsUrl: string;
  readonly workspace: TemporaryRepository;
  /** Path of the script, for sessions that name it. */
  readonly script: string;
  /** All it wrote so far. */
  readonly output: string;
  connectWith(traceParent: string): AgentClient;
  /** Ends it in order, so that everything is sent and written. */
  stop(): Promise<void>;
}

/** `gennai serve`, from source, in a process of its own, with a door for metrics and the log as JSON. */
export async function watchedServer(options: {
  readonly script: readonly ScriptedTurn[];
  readonly files?: Files;
  readonly environment?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly token?: string;
}): Promise<WatchedServer> {
  await using parts = new AsyncDisposableStack();
  const home = parts.use(await temporaryDirectory());
  const workspace = parts.use(await temporaryRepository({ "README.md": "# Test\n", ...options.files }));
  await workspace.git("checkout", "--quiet", "-b", "work");
  // JSON is YAML.
  await home.write("script.yaml", JSON.stringify({ turns: options.script }));
  const token = options.token ?? "telemetry-token-of-forty-three-characters-0";
  const args = ["--workspace", workspace.root, "--commands", "ask", "--metrics", "0", "--log-format", "json"];
  const model = ["--backend", "scripted", "--model", home.path("script.yaml")];
  const server = new SupervisedProcess(
    process.execPath,
    [
      "--disable-warning=ExperimentalWarning",
      program,
      "serve",
      "--port",
      "0",
      ...args,
      ...model,
      ...(options.args ?? []),
    ],
    {
      cwd: workspace.root,
      environment: {
        PATH: process.env["PATH"],
        HOME: home.root,
        GENNAI_STATE_DIR: home.path("state"),
        GENNAI_AUTH_TOKEN: token,
        ...options.environment,
      },
    },
  );
  parts.defer(() => server[Symbol.asyncDispose]());
  const url = await server.printed(/Listening on (http:\/\/[\d.:]+)/, { timeoutMs: 90_000 });
  const metricsUrl = await server.printed(/Metrics are at (http:\/\/[\w.:/]+)/, { timeoutMs: 90_000 });
  const owned = parts.move();
  return {
    client: connect({ baseUrl: url, token }),
    url,
    token,
    metricsUrl,
    workspace,
    script: home.path("script.yaml"),
    get output() {
      return server.output;
    },
    connectWith: (traceParent) => connect({ baseUrl: url, token, traceParent }),
    stop: () => server[Symbol.asyncDispose](),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
