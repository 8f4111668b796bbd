import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type AgentClient, connect } from "@gennai/client/connection/connection";

const program = fileURLToPath(new URL("../../../dist/gennai.mjs", import.meta.url));
const token = "t".repeat(43);

/** A client of a server that `serve` started. */
export function clientOf({ port }: Pick<Served, "port">): AgentClient {
  return connect({ baseUrl: `http://127.0.0.1:${port}`, token });
}

/** One turn, until it ends or the server goes away. */
export class FollowedTurn {
  /** The command's result was told. */
  hasEnded = false;
  /** Nothing more will be told. */
  isOver = false;
  /** Why it did not do what it should. */
  failure = "";
  readonly ended: Promise<void>;

  constructor(client: AgentClient, sessionId: string, userInput: string) {
    // It fails when the server is killed.
    this.ended = this.#follow(client, { sessionId, userInput })
      .catch(() => undefined)
      .finally(() => {
        this.isOver = true;
      });
  }

  async #follow(
    client: AgentClient,
    request: { readonly sessionId: string; readonly userInput: string },
  ): Promise<void> {
    for await (const { event } of client.invoke(request)) {
      if (event.case !== "toolResult") continue;
      this.hasEnded = true;
      this.failure = event.value.error;
    }
  }
}

export interface Served {
  readonly child: ChildProcess;
  readonly port: number;
}

/** `gennai serve`, as it is built, in a process of its own. */
export async function serve(options: {
  readonly port: number;
  readonly script: string;
  readonly stateDir: string;
  readonly workspace: string;
}): Promise<Served> {
  const { port, script, stateDir, workspace } = options;
  const choice = ["--backend", "scripted", "--model", script];
  const child = spawn(
    process.execPath,
    [program, "serve", "--port", String(port), "--workspace", workspace, "--commands", "staged", ...choice],
    {
      cwd: workspace,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, GENNAI_AUTH_TOKEN: token, GENNAI_STATE_DIR: stateDir, GENNAI_SAMPLE_WORKSPACE: "" },
    },
  );
  let said = "";
  const listening = new Promise<number>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        said += String(chunk);
        const found = /listening on http:\S+:(\d+)/.exec(said)?.[1];
        if (found !== undefined) resolve(Number(found));
      });
    }
    child.once("exit", () => reject(new Error(`The server did not start: ${said}`)));
  });
  return { child, port: await listening };
}
