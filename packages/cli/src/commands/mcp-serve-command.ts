import { PassThrough, Readable, Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import type { ClientIdentity } from "@gennai/client/connection/client-identity";
import { AgentSession } from "@gennai/client/session/agent-session";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { builtInTools } from "@gennai/protocol/built-in-tools";
import { errorMessage } from "@gennai/protocol/error-message";
import { type CallToolResult, Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { prepareAgentBranch, presentBranch } from "../client/agent-branch.ts";
import { holdsFiles } from "../connection/holds-files.ts";
import { type ServerFlags, turnServer } from "../connection/server-choice.ts";
import { usageError } from "../terminal/cli-error.ts";
import { type Console, isTerminal } from "../terminal/console.ts";
import { type ExitCode, exitCode } from "../terminal/exit-code.ts";
import { version } from "../terminal/version.ts";
import { AskedCalls, failed } from "./asked-calls.ts";
import { branchTask, CalledTools } from "./called-tools.ts";
import { howToAnswer } from "./elicited-answer.ts";
import { type CommandsFlags, commandsMode } from "./options/option-values.ts";
import { resolveWorkspace } from "./options/resolve-workspace.ts";

export interface McpServeFlags extends ServerFlags, CommandsFlags {
  readonly workspace?: string;
  readonly branch?: string;
  readonly protect?: readonly string[];
}

/** Milliseconds that calls may still take after the client has gone. */
const graceMs = 2_000;
/** A person may think about a question for as long as the server lets them, and about many of one call. */
const patience = { roundTimeoutMs: 24 * 60 * 60 * 1000, maxRounds: 1_000 };

/** `gennai mcp serve`: serves the agent that started it over its input and output, until it closes the input. */
export async function mcpServeCommand(flags: McpServeFlags, console: Console): Promise<ExitCode> {
  if (isTerminal(console.input)) {
    throw usageError(
      "An agent starts this command; it does nothing at a terminal.",
      "gennai mcp serve --help says how an agent starts it.",
    );
  }
  if (holdsFiles(flags)) throw usageError("gennai mcp serve needs a server that has the files.", "Leave --server out.");
  const workspace = await resolveWorkspace(flags.workspace, console);
  const stateDir = defaultStateDir(console.environment);
  const [commands, protect] = [commandsMode(flags), flags.protect ?? []];
  const ending = new AbortController();
  const { signal } = ending;
  const settings = { backend: "editor", model: "", editingMode: "branch" } as const;
  const wanted = { workspace, request: branchTask, protect, signal };
  if (flags.branch === undefined) await presentBranch(wanted);
  else await prepareAgentBranch({ ...wanted, branch: flags.branch });
  await using chosen = await turnServer(flags, { workspace, stateDir, signal, model: settings, commands }, console);

  const called = new CalledTools();
  const leaving = new AbortController();
  const identity: ClientIdentity = {
    clientId: crypto.randomUUID(),
    name: "gennai-mcp",
    version,
    editor: {
      callModel: ({ requestJson }) => called.callModel(requestJson),
      confirm: (question, options) =>
        called.confirm(question, { signal: AbortSignal.any([options.signal, leaving.signal]) }),
    },
  };
  const session = await AgentSession.start(
    chosen.client,
    identity,
    { ...settings, workingDir: workspace },
    { interactive: true, signal },
  );
  await called.open(session, { signal });

  const tools = called.tools.filter(({ name }) => builtInTools.get(name)?.served);
  const asked = new AskedCalls();
  // Made anew where a client asks for another revision.
  const connected = (): Server => {
    const server = new Server(
      { name: "gennai", version },
      { capabilities: { tools: {} }, instructions, inputRequired: patience },
    );
    server.setRequestHandler("tools/list", () => ({
      tools: tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        inputSchema: { ...inputSchema, type: "object" as const },
      })),
    }));
    server.setRequestHandler("tools/call", ({ params }, context) => {
      const { name, arguments: args = {} } = params;
      if (!tools.some((tool) => tool.name === name)) return failed(`There is no tool ${JSON.stringify(name)} here.`);
      return asked.next(context, server.getClientCapabilities(), async (ports): Promise<CallToolResult> => {
        let isUnanswered = false;
        const ask: typeof ports.ask = async (question, options) => {
          const reply = await ports.ask(question, options);
          isUnanswered ||= reply.answer === "nobody";
          return reply;
        };
        try {
          const { text, isError } = await called.call(name, args, { signal: ports.signal, ask });
          const hint = isError && isUnanswered ? `\n${howToAnswer}` : "";
          return { content: [{ type: "text", text: `${text}${hint}` }], isError };
        } catch (error) {
          return failed(errorMessage(error));
        }
      });
    });
    return server;
  };
  const closed = Promise.withResolvers<void>();
  const input = console.input instanceof Readable ? console.input : Readable.from(console.input);
  input.once("end", () => closed.resolve());
  input.once("close", () => closed.resolve());
  const output = console.output instanceof Writable ? console.output : process.stdout;
  // The library drops running calls at the end of its input; here they may end.
  const open = input.pipe(new PassThrough(), { end: false });
  const served = serveStdio(connected, { transport: new StdioServerTransport(open, output) });
  await closed.promise;
  // Nobody answers questions any more: calls that are about to end may do so, and the rest is stopped.
  leaving.abort(new Error("The client has gone."));
  await Promise.race([called.idle(), setTimeout(graceMs, undefined, { ref: false })]);
  await served.close();
  await called.idle();
  ending.abort();
  return exitCode.ok;
}

const instructions =
  "Tools of a governed workspace. Rules of its user may refuse a call, and say why; do not look for a way around them. Read a file before you edit it.";
