import { fileURLToPath } from "node:url";
import { type AgentClient, connect } from "@gennai/client/connection/connection";
import type { Editor } from "@gennai/client/connection/editor";
import { AgentSession } from "@gennai/client/session/agent-session";
import { LineProcess, type ProcessOptions } from "./line-process.ts";

/** The built command line. */
export const gennaiProgram = fileURLToPath(new URL("../../dist/gennai.mjs", import.meta.url));

const token = "bench-token-of-forty-three-characters-000000";

/** A person who agrees to whatever is asked. */
export const agrees: Editor = { confirm: async () => ({ answer: "yes", scope: "session" }) };

/** How the command line is started so that it meets nothing of the user's. */
export function gennaiProcess(
  args: readonly string[],
  stateDirectory: string,
  nodeArgs: readonly string[] = [],
): LineProcess {
  const options: ProcessOptions = {
    args,
    nodeArgs,
    environment: { GENNAI_AUTH_TOKEN: token, GENNAI_STATE_DIR: stateDirectory, GENNAI_SAMPLE_WORKSPACE: "" },
  };
  return new LineProcess(gennaiProgram, options);
}

/** `gennai serve` in a process of its own. Disposing ends it in order. */
export class GennaiServer implements AsyncDisposable {
  readonly #process: LineProcess;
  readonly url: string;
  readonly token = token;
  readonly client: AgentClient;

  private constructor(process: LineProcess, url: string) {
    this.#process = process;
    this.url = url;
    this.client = connect({ baseUrl: url, token });
  }

  static async start(options: {
    readonly workspace: string;
    readonly stateDirectory: string;
    readonly profileDirectory?: string | undefined;
    /** `ask` by default: most measures are about what the agent itself costs. */
    readonly commands?: "staged" | "ask" | undefined;
    /** More options of `gennai serve`. */
    readonly args?: readonly string[] | undefined;
  }): Promise<GennaiServer> {
    const { workspace, stateDirectory, profileDirectory, commands = "ask", args = [] } = options;
    const nodeArgs = profileDirectory === undefined ? [] : ["--cpu-prof", "--cpu-prof-dir", profileDirectory];
    const process = gennaiProcess(
      ["serve", "--port", "0", "--workspace", workspace, "--commands", commands, ...args],
      stateDirectory,
      nodeArgs,
    );
    for (;;) {
      const url = /listening on (http:\S+)/.exec(await process.line())?.[1];
      if (url !== undefined) return new GennaiServer(process, url);
    }
  }

  get processId(): number {
    return this.#process.id;
  }

  /** Starts a session on the scripted model, in the server's workspace. */
  async session(baseUrl: string, editor?: Editor): Promise<AgentSession> {
    const identity = { clientId: "bench", name: "bench", version: "0", ...(editor === undefined ? {} : { editor }) };
    const choice = { backend: "openai-compatible", model: "bench", baseUrl, maxIterations: 1000 } as const;
    const { signal } = new AbortController();
    return AgentSession.start(this.client, identity, choice, { interactive: editor !== undefined, signal });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#process[Symbol.asyncDispose]();
  }
}

/**
 * Runs one turn to its end, reading its events. Rejects when a call was refused or failed: then nothing was measured.
 *
 * @param options.maxAttempts connections that may fail in a row; with more than one it goes on as other clients do
 */
export async function runTurn(
  session: AgentSession,
  { maxAttempts = 1 }: { readonly maxAttempts?: number } = {},
): Promise<{ readonly turnId: string }> {
  const { signal } = new AbortController();
  const turn = await session.startTurn({ text: "Go on." }, { signal });
  for await (const { event } of session.follow({
    afterSeq: turn.afterSeq,
    untilTurnId: turn.turnId,
    maxAttempts,
    signal,
  })) {
    if (event.case === "toolResult" && event.value.error !== "") throw new Error(event.value.error);
    if (event.case === "error") throw new Error(event.value);
  }
  return turn;
}
