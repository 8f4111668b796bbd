import { Buffer } from "node:buffer";
import { platform, userInfo } from "node:os";
import { ReadableStream, TransformStream, WritableStream } from "node:stream/web";
import { setTimeout } from "node:timers/promises";
import { type AnyMessage, MessageTooLargeError, ndJsonStream } from "@agentclientprotocol/sdk";
import type { EditorMcpServers } from "@gennai/acp/editor/editor-mcp-servers";
import { type EditorServer, serveEditor } from "@gennai/acp/serve-editor";
import { userConfigDir } from "@gennai/machine/config/config-directory";
import { keychainCommand } from "@gennai/machine/config/keychain";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { describedStart } from "@gennai/sessions/mcp/described-start";
import { McpAcceptance, type McpContext, type McpStatus } from "@gennai/sessions/mcp/mcp-acceptance";
import type { GoverningAct } from "@gennai/store/ledger/persons-ledger";
import { holdsFiles } from "../connection/holds-files.ts";
import { type ChosenServer, type ServerFlags, turnServer } from "../connection/server-choice.ts";
import { CliError, usageError } from "../terminal/cli-error.ts";
import { type Console, isTerminal } from "../terminal/console.ts";
import { type ExitCode, exitCode } from "../terminal/exit-code.ts";
import { version } from "../terminal/version.ts";
import { limitsHere } from "./limits-here.ts";
import { actRecorder } from "./options/act-recorder.ts";
import { type CommandsFlags, commandsMode, type ModelFlags, modelChoice } from "./options/option-values.ts";
import { resolveWorkspace } from "./options/resolve-workspace.ts";
import { setKey } from "./set-key.ts";

export interface AcpFlags extends ServerFlags, ModelFlags, CommandsFlags {
  readonly protect?: readonly string[];
  readonly setKey?: string;
}

/** `gennai acp`: serves the editor that started it, until it closes the input. */
export async function acpCommand(flags: AcpFlags, console: Console): Promise<ExitCode> {
  if (flags.setKey !== undefined) return setKey(flags.setKey, console);
  if (isTerminal(console.input)) {
    throw usageError(
      "An editor starts this command; it does nothing at a terminal.",
      "gennai acp --help says how an editor starts it.",
    );
  }
  if (holdsFiles(flags)) {
    throw usageError("gennai acp needs a server that has the files.", "Leave --server out.");
  }
  const settings = modelChoice(flags);
  const commands = commandsMode(flags);
  const stateDir = defaultStateDir(console.environment);
  const ending = new AbortController();
  const { signal } = ending;
  await using servers = new AsyncDisposableStack();
  const chosen = new Map<string, Promise<ChosenServer>>();

  const chooseFor = async (workspace: string): Promise<ChosenServer> => {
    return servers.use(await turnServer(flags, { workspace, stateDir, signal, model: settings, commands }, console));
  };
  /** One server for each workspace, as long as the editor is connected. */
  const serverOf = async (workspace: string): Promise<EditorServer> => {
    const choosing = chosen.get(workspace) ?? chooseFor(workspace);
    chosen.set(workspace, choosing);
    // The next session tries again what failed.
    choosing.catch(() => chosen.delete(workspace));
    const { client: agent, governance, plans } = await choosing;
    return { agent, governance, plans };
  };

  // Standard output carries the protocol alone; everything else is written to standard error, which editors keep as a log.
  const stream = ndJsonStream(webWritable(console.output), ReadableStream.from(bytesOf(console.input)));
  const messages = new TransformStream<AnyMessage, AnyMessage>();
  const read = stream.readable.pipeTo(messages.writable).catch((error: unknown) => error);
  const connection = serveEditor(
    { writable: stream.writable, readable: messages.readable },
    {
      settings,
      version,
      signal,
      keepsKeys: keychainCommand(platform(), "", "keep") !== undefined,
      userName: userInfo().username,
      mcp: editorMcpServers(
        {
          stateDir,
          configDir: userConfigDir(console.environment),
          environment: console.environment,
          limits: () => limitsHere(console),
        },
        (workspaceRoot, act) => actRecorder(workspaceRoot, console, "acp")(act),
      ),
      serverOf: (workspace) => plainly(serverOf(workspace)),
      directoryOf: (path) => plainly(resolveWorkspace(path, console)),
    },
  );
  await connection.closed;
  ending.abort();
  // After the output broke, the input may stay open.
  const problem = await Promise.race([read, setTimeout(1_000, undefined, { ref: false })]);
  if (problem instanceof MessageTooLargeError) {
    throw usageError(
      "The editor sent a message of more than 32 MiB.",
      "Send less at once, such as a link to a file in place of its text.",
    );
  }
  return exitCode.ok;
}

/** Joins the lines of a `CliError`, since editors show an error as one line. */
async function plainly<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw new Error([error.message, ...error.next].join(" "), { cause: error });
  }
}

function webWritable(output: NodeJS.WritableStream): WritableStream<Uint8Array> {
  return new WritableStream({
    write: (bytes) =>
      new Promise((resolve, reject) => {
        output.write(bytes, (error) => (error ? reject(error) : resolve()));
      }),
  });
}

async function* bytesOf(input: NodeJS.ReadableStream): AsyncGenerator<Uint8Array, void> {
  for await (const part of input) yield typeof part === "string" ? Buffer.from(part) : part;
}

type NamedServer = Parameters<EditorMcpServers["offer"]>[1][number];

/**
 * Treats the MCP servers that an editor names as servers of its workspace, which a person must accept first.
 * @param record writes to the workspace's ledger that a person accepted one
 */
function editorMcpServers(
  place: Omit<McpContext, "workspaceRoot">,
  record: (workspaceRoot: string, act: GoverningAct) => Promise<void>,
): EditorMcpServers {
  const acceptanceOf = (workspaceRoot: string) => new McpAcceptance({ ...place, workspaceRoot });
  return {
    async offer(workingDir, named) {
      const acceptance = acceptanceOf(workingDir);
      await acceptance.offerFromEditor(Object.fromEntries(named.map((server) => [nameOf(server), written(server)])));
      const { servers } = await acceptance.status();
      return servers
        .filter(({ server, accepted }) => server.origin === "editor" && !accepted)
        .map((status) => ({
          name: status.server.name,
          digest: status.server.digest,
          described: described(status),
        }));
    },
    async accept(workingDir, { name, digest }) {
      const recorded = (act: GoverningAct) => record(workingDir, act);
      if ((await acceptanceOf(workingDir).accept(name, recorded, digest)) !== undefined) return;
      throw new Error(`The MCP server ${name} has changed since. Start a new session to be asked again.`);
    },
  };
}

/** A name that fits into names of tools, made of one that editors write for people. */
function nameOf({ name }: NamedServer): string {
  return name.replaceAll(/[^A-Za-z0-9_-]+/g, "-").slice(0, 40);
}

function written(server: NamedServer): unknown {
  const record = (pairs: readonly { readonly name: string; readonly value: string }[]) =>
    Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
  if ("command" in server) return { command: server.command, args: server.args, env: record(server.env) };
  if (server.type === "sse") {
    throw new Error(
      `The MCP server ${server.name} speaks SSE, which is not taken. Name its HTTP address, or a program.`,
    );
  }
  return { url: server.url, headers: record(server.headers) };
}

/** All that a person accepts. Secret values are masked. */
function described({ server: { written: start, runs }, changed }: McpStatus): string {
  return [
    ...(changed ? ["It is not the one that was accepted."] : []),
    ...describedStart(start, "masked"),
    ...Object.entries(runs).map(([name, text]) => `runs ${name}: ${text}`),
  ].join("\n");
}
