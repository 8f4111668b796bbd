import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type AgentClient,
  connect,
  connectGovernance,
  type GovernanceClient,
} from "@gennai/client/connection/connection";
import { settingDefaults } from "@gennai/protocol/model/session/session-settings";
import { type RunningServer, startServer } from "@gennai/server/serve";
import type { ServerOptions } from "@gennai/server/tenants/server-options";
import { writeSignedPolicy } from "./signed-policy.ts";
import {
  type Files,
  type TemporaryRepository,
  temporaryDirectory,
  temporaryRepository,
} from "./temporary-repository.ts";

/** A turn of the scripted model, as written in a script's YAML. */
export interface ScriptedTurn {
  readonly match?: string;
  readonly steps: readonly Readonly<Record<string, unknown>>[];
}

export interface TestServerOptions {
  /** What the workspace holds, committed on its branch. */
  readonly files?: Files;
  /** What the model says; without it, the offline assistant answers. */
  readonly script?: readonly ScriptedTurn[];
  /** A script of one turn, for whatever is asked. */
  readonly steps?: ScriptedTurn["steps"];
  readonly settings?: Partial<ServerOptions["defaultSettings"]>;
  readonly server?: Partial<Omit<ServerOptions, "defaultSettings">>;
}

export interface TestServer extends AsyncDisposable {
  /** Connected by gRPC-Web over HTTP, with the token. */
  readonly client: AgentClient;
  readonly governance: GovernanceClient;
  readonly url: string;
  readonly port: number;
  readonly token: string;
  readonly stateDir: string;
  /** On the branch `work`, which nothing protects. */
  readonly workspace: TemporaryRepository;
  readonly running: RunningServer;
  /** What the server warned of. */
  readonly warnings: readonly string[];
  /** Errors that nobody expected. Disposing throws when there are any. */
  readonly failures: string[];
  /** A script that a session can name as its model. */
  scriptFile(turns: readonly ScriptedTurn[]): Promise<string>;
  /** Stops the server and starts it again on the same port, state and token; the client goes on. */
  restart(): Promise<void>;
}

/**
 * A whole server on a free port of the loopback, over a state directory and a git workspace of its own. Disposing stops
 * it, removes both, and throws when the server met an error it did not expect.
 */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  await using parts = new AsyncDisposableStack();
  const state = parts.use(await temporaryDirectory());
  const scripts = parts.use(await temporaryDirectory());
  const workspace = parts.use(
    await temporaryRepository({ "README.md": "# Test\n", ...options.files }, { branch: "work" }),
  );

  let written = 0;
  const scriptFile = async (turns: readonly ScriptedTurn[]): Promise<string> => {
    written += 1;
    const file = join(scripts.root, `script-${written}.yaml`);
    // JSON is YAML.
    await writeFile(file, JSON.stringify({ turns }));
    return file;
  };

  // Who tests many users need not sign a policy for them first.
  const environment: NodeJS.ProcessEnv = { ...process.env };
  if (options.server?.users !== undefined) {
    environment["XDG_CONFIG_HOME"] = scripts.root;
    await writeSignedPolicy(join(scripts.root, "gennai"));
  }
  const token = options.server?.users === undefined ? (options.server?.token ?? "t".repeat(43)) : "";
  const warnings: string[] = [];
  const failures: string[] = [];
  const script = options.script ?? (options.steps && [{ match: ".", steps: options.steps }]);
  const model = script === undefined ? "" : await scriptFile(script);
  const start = (port: number): Promise<RunningServer> =>
    startServer({
      version: "0.0.0-test",
      address: { type: "tcp", host: "127.0.0.1", port },
      token,
      stateDir: state.root,
      workspace: workspace.root,
      announce: false,
      // The same on every machine; `server.commands` changes it.
      commands: "ask",
      environment,
      log: {
        debug: () => undefined,
        info: () => undefined,
        warn: (text) => void warnings.push(text),
        error: (text, cause) => void failures.push(`${text} ${described(cause)}`),
      },
      ...options.server,
      defaultSettings: {
        ...settingDefaults,
        backend: script === undefined ? "offline" : "scripted",
        model,
        interactive: false,
        ...options.settings,
      },
    });

  let running = await start(0);
  const port = running.port ?? 0;
  parts.defer(() => running[Symbol.asyncDispose]());
  const owned = parts.move();
  return {
    client: connect({ baseUrl: running.url, token }),
    governance: connectGovernance({ baseUrl: running.url, token }),
    url: running.url,
    port,
    token,
    stateDir: state.root,
    workspace,
    get running() {
      return running;
    },
    warnings,
    failures,
    scriptFile,
    async restart() {
      await running[Symbol.asyncDispose]();
      running = await start(port);
    },
    async [Symbol.asyncDispose]() {
      await owned.disposeAsync();
      if (failures.length > 0) throw new Error(`The server met errors it did not expect:\n${failures.join("\n")}`);
    },
  };
}

function described(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
