import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ExecutionContext, Tool, ToolOutcome } from "@gennai/governance/tool";
import { commandEnvironment } from "@gennai/machine/process/command-environment";
import { openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import { executionContext } from "@gennai/testkit/execution-context";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect } from "vitest";
import type { UserAsker } from "#bridge/session-bridge";
import { McpServers } from "#mcp/mcp-servers";
import type { TaskBackground } from "#mcp/task-in-background";

/** No person is there. */
export const nobody: UserAsker = { askUser: async () => ({ end: "nobody" }) };

/** A workspace whose user has this server, by the name `sdk`. @param define gets the workspace's directory, and another */
export async function withUsersServer(
  define: object | ((root: string, outside: string) => object),
  user: UserAsker = nobody,
  background?: TaskBackground,
) {
  await using parts = new AsyncDisposableStack();
  const state = parts.use(await temporaryDirectory());
  const workspace = parts.use(await temporaryDirectory());
  const sdk = typeof define === "function" ? define(workspace.root, state.root) : define;
  await writeFile(join(state.root, "mcp.json"), JSON.stringify({ mcpServers: { sdk } }), { mode: 0o600 });
  const learnt = new Set<string>();
  const servers = parts.use(
    new McpServers({
      stateDir: state.root,
      configDir: state.root,
      home: "/home/nobody",
      environment: {},
      commandEnvironment: commandEnvironment(process.env),
      learn: (secret) => void learnt.add(secret),
      limits: async () => [],
      version: "0.0.0-test",
    }),
  );
  const opened = openLocalWorkspace(workspace.root, { stateDir: state.root });
  const owned = parts.move();
  const offered = () => servers.tools(opened, ["*"], { user, background });
  return {
    root: workspace.root,
    stateDir: state.root,
    /** Secrets that texts are masked of. */
    learnt,
    offered,
    /** Its tools by name, where nothing is wrong with any. */
    async tools(): Promise<ReadonlyMap<string, Tool>> {
      const { tools, warnings } = await offered();
      expect(warnings).toEqual([]);
      return new Map(tools.map((tool) => [tool.name, tool]));
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** What comes out of a call that everybody agreed to. */
export async function callTool(
  tool: Tool | undefined,
  args: object,
  more: Partial<ExecutionContext> = {},
): Promise<string> {
  return (await outcomeOf(tool, args, more)).output;
}

export async function outcomeOf(
  tool: Tool | undefined,
  args: object,
  more: Partial<ExecutionContext> = {},
): Promise<ToolOutcome> {
  if (tool === undefined) throw new Error("it is not offered");
  const context = executionContext({ signal: new AbortController().signal, ...more });
  const parsed = tool.parameters.parse(args);
  return tool.execute(parsed, await tool.analyse(parsed, context), context);
}
