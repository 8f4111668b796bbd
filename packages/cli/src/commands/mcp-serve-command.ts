import { Readable, Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import type { ClientIdentity } from "@gennai/client/connection/client-identity";
import { AgentSession } from "@gennai/client/session/agent-session";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { builtInTools } from "@gennai/protocol/built-in-tools";
import { errorMessage } from "@gennai/protocol/error-message";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, type CallToolResult, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { prepareAgentBranch, presentBranch } from "../client/agent-branch.ts";
import { holdsFiles } from "../connection/holds-files.ts";
import { chooseServer, requireIsolation, type ServerFlags, serverRequest } from "../connection/server-choice.ts";
import { usageError } from "../terminal/cli-error.ts";
import { type Console, isTerminal } from "../terminal/console.ts";
import { type ExitCode, exitCode } from "../terminal/exit-code.ts";
import { version } from "../terminal/version.ts";
import { branchTask, CalledTools } from "./called-tools.ts";
import { elicitedAnswer, howToAnswer } from "./elicited-answer.ts";
import { type CommandsFlags, commandsMode } from "./options/option-values.ts";
import { resolveWorkspace } from "./options/resolve-workspace.ts";

export interface McpServeFlags extends ServerFlags, CommandsFlags {
  readonly workspace?: string;
  readonly branch?: string;
  readonly protect?: readonly string[];
}

/** Milliseconds that calls may still take after the client has gone. */
const graceMs = 2_000;

/** `gennai mcp serve`: serves the agent that started it over its input and output, until it closes the input. */
export async function mcpServeCommand(flags: McpServeFlags, console: Console): Promise<ExitCode> {
  if (isTerminal(console.input)) {
    throw usageError(
      "This speaks with an agent, and there is a terminal.",
      "gennai mcp serve --help says how an agent starts it.",
    );
  }
  if (holdsFiles(flags)) throw usageError("Tools work where their server has the files.", "Leave --server out.");
  const workspace = await resolveWorkspace(flags.workspace, console);
  const stateDir = defaultStateDir(console.environment);
  const [commands, protect] = [commandsMode(flags), flags.protect ?? []];
  const ending = new AbortController();
  const { signal } = ending;
  const settings = { backend: "editor", model: "", editingMode: "branch" } as const;
  const wanted = { workspace, request: branchTask, protect, signal };
  if (flags.branch === undefined) await presentBranch(wanted);
  else await prepareAgentBranch({ ...wanted, branch: flags.branch });
  await using chosen = await chooseServer(
    {
      ...serverRequest(flags, { workspace, stateDir, signal }),
      model: settings,
      protectedBranches: protect,
      commands,
    },
    console,
  );
  await requireIsolation(chosen, commands, signal);

  const server = new Server({ name: "gennai", version }, { capabilities: { tools: {} }, instructions });
  const called = new CalledTools();
  const leaving = new AbortController();
  let unanswered = 0;
  const identity: ClientIdentity = {
    clientId: crypto.randomUUID(),
    name: "gennai-mcp",
    version,
    editor: {
      callModel: ({ requestJson }) => called.callModel(requestJson),
      async confirm(question, options) {
        const asked = AbortSignal.any([options.signal, leaving.signal]);
        const reply = await elicitedAnswer(question, server, { signal: asked });
        if (reply.answer === "nobody") unanswered += 1;
        return reply;
      },
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
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema: { ...inputSchema, type: "object" as const },
    })),
  }));
  server.setRequestHandler(
    CallToolRequestSchema,
    async ({ params }, { signal: cancelled }): Promise<CallToolResult> => {
      const { name, arguments: args = {} } = params;
      if (!tools.some((tool) => tool.name === name)) return failed(`There is no tool ${JSON.stringify(name)} here.`);
      const before = unanswered;
      try {
        const { text, isError } = await called.call(name, args, { signal: cancelled });
        const hint = isError && unanswered > before ? `\n${howToAnswer}` : "";
        return { content: [{ type: "text", text: `${text}${hint}` }], isError };
      } catch (error) {
        return failed(errorMessage(error));
      }
    },
  );
  const closed = Promise.withResolvers<void>();
  server.onclose = () => closed.resolve();
  const input = console.input instanceof Readable ? console.input : Readable.from(console.input);
  // The transport does not say when its input ends.
  input.once("end", () => closed.resolve());
  input.once("close", () => closed.resolve());
  const output = console.output instanceof Writable ? console.output : process.stdout;
  await server.connect(new StdioServerTransport(input, output));
  await closed.promise;
  // Nobody answers questions any more: calls that are about to end may do so, and the rest is stopped.
  leaving.abort(new Error("The client has gone."));
  await Promise.race([called.idle(), setTimeout(graceMs, undefined, { ref: false })]);
  await server.close();
  await called.idle();
  ending.abort();
  return exitCode.ok;
}

const instructions =
  "Tools of a governed workspace. Rules of its user may refuse a call, and say why; do not look for a way around them. Read a file before you edit it.";

function failed(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}
