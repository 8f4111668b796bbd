import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { serverRefusal } from "@gennai/governance/limits/laid-down";
import type { Limits } from "@gennai/governance/limits/limits";
import { readUserFile } from "@gennai/machine/config/user-file";
import { hasCode } from "@gennai/machine/system-error";
import { readControlFile, UnreadableFile } from "@gennai/machine/workspace/files/read-control-file";
import { whatRuns } from "@gennai/machine/workspace/what-runs";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import { digestOf } from "@gennai/protocol/digest";
import * as z from "zod";
import { editorMcpFile, readEditorMcp } from "./editor-mcp-file.ts";

/** In the user's configuration directory. */
const userMcpFile = "mcp.json";
/** In the workspace. */
export const projectMcpFile = ".mcp.json";
const maxBytes = 256 * 1024;

/** A configured server that offers tools. */
export interface McpServer {
  readonly name: string;
  /** Configured by the user, or by the repository or an editor; the latter two count only after the user accepted them. */
  readonly origin: "user" | "project" | "editor";
  readonly start: McpStart;
  /** As written, with variables unexpanded: what the user is shown. */
  readonly written: McpStart;
  /** Tools that the user lets run without a question, as long as their definitions are the accepted ones. */
  readonly allow: readonly string[];
  /** Tools that change nothing, according to the user. */
  readonly readOnly: readonly string[];
  /** SHA-256 of the configuration. */
  readonly definition: string;
  /** SHA-256 of what would be started or called: the configuration, and for a program also `runs`. */
  readonly digest: string;
  /** Workspace files and scripts that the server is known to run: name to digest or text. Empty until they were looked up. */
  readonly runs: Readonly<Record<string, string>>;
}

export type McpStart =
  | {
      readonly type: "program";
      readonly command: string;
      readonly args: readonly string[];
      readonly environment: Readonly<Record<string, string>>;
      /** Relative to the workspace; undefined: the workspace. */
      readonly cwd: string | undefined;
    }
  | {
      readonly type: "http";
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** Who we are at its login, see `LoginPlace`. */
      readonly client?: string | undefined;
    };

export interface McpConfig {
  readonly servers: ReadonlyMap<string, McpServer>;
  /** What could not be used, as messages for the user. */
  readonly problems: readonly string[];
}

const name = z.string().regex(/^[A-Za-z0-9_-]{1,40}$/, "1 to 40 letters, digits, - or _");
const strings = z.record(z.string().max(200), z.string().max(8_000));
const common = {
  allow: z
    .array(z.string().max(200))
    .max(500)
    .default([])
    .describe("Tools that run without a question, while their definitions stay as accepted. Only in the user's file."),
  readOnly: z
    .array(z.string().max(200))
    .max(500)
    .default([])
    .describe("Tools that you declare to change nothing. Only in the user's file."),
  disabled: z.boolean().default(false).describe("Leaves the server out."),
};
/** One server; `docs/reference/settings.md` is generated from it. */
export const mcpServerSchema = z.union([
  z.object({
    type: z.literal("stdio").optional().describe("May be left out."),
    command: z.string().min(1).max(4_000).describe("The program."),
    args: z.array(z.string().max(8_000)).max(200).default([]).describe("Its arguments."),
    env: strings.default({}).describe("Its environment, besides the few variables that every command gets."),
    cwd: z.string().max(4_000).optional().describe("Relative to the workspace. Without it: the workspace."),
    ...common,
  }),
  z.object({
    type: z.enum(["http", "streamable-http"]).optional().describe("May be left out."),
    url: z.string().max(8_000).describe("Instead of a program: a server that speaks streamable HTTP."),
    headers: strings.default({}).describe("Sent with every request."),
    oauth: z
      .object({ clientId: z.string().min(1).max(2_000) })
      .optional()
      .describe("For a login: the `clientId` of a registered client, or the https address of its metadata document."),
    ...common,
  }),
]);
const address = z.url({ protocol: /^https?$/ });
const fileSchema = z.object({ mcpServers: z.record(z.string(), z.unknown()).default({}) });

/**
 * The MCP servers of a workspace: from the user's file, then from the repository's (in the form that other agents read too),
 * then those named by an editor. `${NAME}` in values is a variable of the user's environment, `${NAME:-words}` has words for where it
 * is not set, as in Claude Code (https://code.claude.com/docs/en/mcp); except for an editor's servers.
 * An unreadable server is left out, with a problem.
 * @param environment for `${NAME}`
 * @param stateDir where the editor's servers are kept; without it they are left out
 */
export async function loadMcpConfig(
  workspaceRoot: string,
  configDir: string,
  environment: Readonly<Record<string, string | undefined>>,
  stateDir?: string,
): Promise<McpConfig> {
  const servers = new Map<string, McpServer>();
  const problems: string[] = [];
  const read = async (origin: McpServer["origin"], file: string, text: () => Promise<string | undefined>) => {
    try {
      const written = await text();
      if (written === undefined) return;
      const { mcpServers } = fileSchema.parse(JSON.parse(written));
      for (const [key, value] of Object.entries(mcpServers)) {
        if (servers.has(key)) {
          problems.push(
            `${file}: the server ${JSON.stringify(key)} is left out, ${servers.get(key)?.origin === "user" ? "the user's own" : "the repository's"} has the same name`,
          );
          continue;
        }
        const server = readServer(key, origin, value, environment);
        if (typeof server === "string") problems.push(`${file}: ${server}`);
        else if (server !== undefined) servers.set(key, server);
      }
    } catch (error) {
      problems.push(`${file} cannot be read: ${whyUnreadable(error)}`);
    }
  };
  await read("user", userMcpFile, () => readUserFile(join(configDir, userMcpFile)));
  await read("project", projectMcpFile, async () => {
    try {
      return await readControlFile(await realpath(workspaceRoot), projectMcpFile, maxBytes);
    } catch (error) {
      if (hasCode(error, "ENOENT") || hasCode(error, "ENOTDIR")) return undefined;
      throw error;
    }
  });
  if (stateDir !== undefined) {
    await read("editor", editorMcpFile, async () => readEditorMcp(stateDir, await realpath(workspaceRoot)));
  }
  return { servers, problems };
}

function readServer(
  key: string,
  origin: McpServer["origin"],
  value: unknown,
  environment: Readonly<Record<string, string | undefined>>,
): McpServer | string | undefined {
  const named = name.safeParse(key);
  if (!named.success)
    return `the name ${JSON.stringify(key.slice(0, 60))} cannot be used: ${named.error.issues[0]?.message}`;
  // Replaced by streamable HTTP in the specification of 2025-03-26 (basic/transports).
  if (z.looseObject({ type: z.literal("sse") }).safeParse(value).success)
    return `${key}: speaks SSE, which is not taken: name its streamable HTTP address, or a program`;
  const parsed = mcpServerSchema.safeParse(value);
  if (!parsed.success) return `${key}: write a command with args, or a url: ${parsed.error.issues[0]?.message}`;
  if (parsed.data.disabled) return undefined;
  const missing = new Set<string>();
  const fill = (text: string): string => {
    // An editor has already expanded its variables.
    if (origin === "editor") return text;
    return text.replaceAll(
      /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g,
      (_whole, variable: string, other?: string) => {
        const found = environment[variable] ?? other;
        if (found === undefined) missing.add(variable);
        return found ?? "";
      },
    );
  };
  const fillAll = (record: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(record).map(([one, text]) => [one, fill(text)]));
  // The digest covers the text, not the values of variables, which may be secrets and may change. It also excludes the user's
  // own settings: allowing a tool to run without a question does not accept another server.
  const { allow: _allow, readOnly: _readOnly, disabled: _disabled, type: _type, ...itself } = parsed.data;
  const definition = digestOf({ key, value: itself });
  const written: McpStart =
    "command" in parsed.data
      ? {
          type: "program",
          command: parsed.data.command,
          args: parsed.data.args,
          environment: parsed.data.env,
          cwd: parsed.data.cwd,
        }
      : { type: "http", url: parsed.data.url, headers: parsed.data.headers, client: parsed.data.oauth?.clientId };
  const start: McpStart =
    written.type === "program"
      ? {
          ...written,
          command: fill(written.command),
          args: written.args.map(fill),
          environment: fillAll(written.environment),
          cwd: written.cwd === undefined ? undefined : fill(written.cwd),
        }
      : { ...written, url: fill(written.url), headers: fillAll(written.headers) };
  if (missing.size > 0) return `${key}: set the environment variable ${[...missing].join(", ")}`;
  if (start.type === "http" && !address.safeParse(start.url).success)
    return `${key}: write a command with args, or a url that begins with http:// or https://`;
  if (start.type === "program" && start.command === "") return `${key}: its command is empty`;
  // A repository must not decide what runs without a question, or counts as reading.
  const { allow, readOnly } = origin === "user" ? parsed.data : { allow: [], readOnly: [] };
  return { name: key, origin, start, written, definition, digest: definition, allow, readOnly, runs: {} };
}

function whyUnreadable(error: unknown): string {
  if (error instanceof SyntaxError) return "it is not JSON";
  if (error instanceof z.ZodError) return error.issues[0]?.message ?? "it has another shape";
  if (error instanceof UnreadableFile || error instanceof Error) return error.message;
  return String(error);
}

/** The configured servers of a workspace, each with what it would run of the workspace. */
export async function pinnedServers(
  workspace: Workspace,
  options: {
    readonly configDir: string;
    readonly stateDir: string;
    readonly environment: Readonly<Record<string, string | undefined>>;
  },
): Promise<McpConfig> {
  const { configDir, stateDir, environment } = options;
  const { servers, problems } = await loadMcpConfig(workspace.root, configDir, environment, stateDir);
  const looked = await Promise.all([...servers.values()].map((server) => pinned(server, workspace)));
  return { servers: new Map(looked.map((server) => [server.name, server])), problems };
}

/** The server with the workspace files it would run, which are included in its digest. */
export async function pinned(server: McpServer, workspace: Workspace): Promise<McpServer> {
  const { start, definition } = server;
  if (start.type !== "program") return server;
  const { command, args, environment, cwd } = start;
  const runs = await whatRuns(workspace, [command, ...args, ...Object.values(environment)].join(" "), { cwd });
  return { ...server, runs, digest: Object.keys(runs).length === 0 ? definition : digestOf({ definition, runs }) };
}

/** Why a policy does not let a server start, as a sentence; undefined if it may. */
export function managedRefusal(limits: Limits, { name, start }: Pick<McpServer, "name" | "start">): string | undefined {
  const why = serverRefusal(
    limits,
    start.type === "http"
      ? { url: start.url }
      : { command: [start.command, ...start.args], environment: start.environment },
  );
  return why && `The MCP server ${name} is not started: ${why}`;
}
