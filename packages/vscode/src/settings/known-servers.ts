import * as z from "zod/mini";

/** An MCP server of VS Code's `mcp.json`, in the form of our `.mcp.json`. */
export interface KnownServer {
  readonly name: string;
  readonly entry: McpEntry;
  /** What it starts or calls, on one line. */
  readonly words: string;
}

export type McpEntry =
  | {
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd?: string;
    }
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> };

export interface KnownServers {
  readonly servers: readonly KnownServer[];
  /** Reasons why servers are left out, for people. */
  readonly leftOut: readonly string[];
}

const strings = z.record(z.string(), z.string());
const fileSchema = z.object({ servers: z._default(z.record(z.string(), z.unknown()), {}) });
const programSchema = z.object({
  type: z.optional(z.literal("stdio")),
  command: z.string(),
  args: z._default(z.array(z.string()), []),
  env: z._default(strings, {}),
  cwd: z.optional(z.string()),
  envFile: z.optional(z.never()),
});
const httpSchema = z.object({
  type: z.optional(z.literal("http")),
  url: z.string(),
  headers: z._default(strings, {}),
});

/** Reads VS Code's `.vscode/mcp.json`. Throws `Error` with what is wrong if it is no such file. */
export function knownServers(text: string): KnownServers {
  const file = fileSchema.safeParse(parsed(text));
  if (!file.success) throw new Error(".vscode/mcp.json has another shape than VS Code gives it.");
  const servers: KnownServer[] = [];
  const leftOut: string[] = [];
  for (const [name, value] of Object.entries(file.data.servers)) {
    const entry = entryOf(value);
    if (typeof entry === "string") leftOut.push(`${name}: ${entry}`);
    else if (!/^[A-Za-z0-9_-]{1,40}$/.test(name)) leftOut.push(`${name}: a name has 1 to 40 letters, digits, - or _`);
    else servers.push({ name, entry, words: wordsOf(entry) });
  }
  return { servers, leftOut };
}

export interface AddedServers {
  /** Text of `.mcp.json`. */
  readonly text: string;
  readonly written: readonly string[];
  /** Names that already existed; their meaning is unchanged. */
  readonly kept: readonly string[];
}

/** `.mcp.json` with these servers added; servers with the same names stay as they are. Throws `Error` if it cannot be read. */
export function withServers(present: string | undefined, added: readonly KnownServer[]): AddedServers {
  const file = z.looseObject({ mcpServers: z._default(z.record(z.string(), z.unknown()), {}) });
  const read = file.safeParse(present === undefined ? {} : JSON.parse(present));
  if (!read.success) throw new Error(".mcp.json is not of the expected form: correct it first.");
  const before = read.data.mcpServers;
  const fresh = added.filter(({ name }) => !Object.hasOwn(before, name));
  const entries = fresh.map(({ name, entry }): [string, McpEntry] => [name, entry]);
  const all = { ...read.data, mcpServers: { ...before, ...Object.fromEntries(entries) } };
  return {
    text: `${JSON.stringify(all, undefined, 2)}\n`,
    written: fresh.map(({ name }) => name),
    kept: added.filter((server) => !fresh.includes(server)).map(({ name }) => name),
  };
}

/** The entry, or why it cannot be used. */
function entryOf(value: unknown): McpEntry | string {
  const text = translated(JSON.stringify(value) ?? "");
  const unknown = /\$\{(?![A-Za-z_][A-Za-z0-9_]*\})[^}]*\}/.exec(text)?.[0];
  const filled: unknown = JSON.parse(text);
  const program = programSchema.safeParse(filled);
  const http = httpSchema.safeParse(filled);
  if (!program.success && !http.success) return "only programs without an envFile, and http, can be used";
  if (unknown !== undefined) return `${unknown} is known to VS Code alone`;
  if (!program.success) return { url: http.data?.url ?? "", headers: http.data?.headers ?? {} };
  const { command, args, env, cwd } = program.data;
  return { command, args, env, ...(cwd === undefined ? {} : { cwd }) };
}

/** VS Code's variables in our form: a server starts in the workspace, and `${NAME}` is an environment variable. */
function translated(json: string): string {
  return json.replaceAll("${workspaceFolder}", ".").replaceAll(/\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g, "${$1}");
}

function wordsOf(entry: McpEntry): string {
  if ("url" in entry) return [entry.url, ...Object.keys(entry.headers).map((name) => `sends ${name}`)].join(", ");
  const given = Object.entries(entry.env).map(([name, value]) => `${name}=${value}`);
  const place = entry.cwd === undefined ? [] : [`in ${entry.cwd}`];
  return [[...given, entry.command, ...entry.args].join(" "), ...place].join(", ").replaceAll(/\p{C}/gu, "\u{FFFD}");
}

/** Parses JSON with comments and trailing commas, which VS Code allows in its files. Throws `Error` for anything else. */
function parsed(text: string): unknown {
  const bare = text.replaceAll(/("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (_all, kept?: string) => kept ?? "");
  const strict = bare.replaceAll(/("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g, (_all, kept?: string) => kept ?? "");
  try {
    return JSON.parse(strict);
  } catch (error) {
    throw new Error(".vscode/mcp.json is not JSON.", { cause: error });
  }
}
