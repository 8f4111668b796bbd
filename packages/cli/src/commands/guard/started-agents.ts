import { realpathSync } from "node:fs";
import { join } from "node:path";
import { parseEndpoint } from "@gennai/governance/endpoint";
import { userConfigDir } from "@gennai/machine/config/config-directory";
import { parseStrictYaml } from "@gennai/machine/config/strict-yaml";
import { readControlFile } from "@gennai/machine/workspace/files/read-control-file";
import { errorMessage } from "@gennai/protocol/error-message";
import * as z from "zod";
import { type CliError, usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";

/** `~/…`, an absolute path, or one that begins with `{VARIABLE:PATH}`: what the variable says, else the path. */
const place = z
  .string()
  .max(1000)
  .regex(/^(?:~\/|\/|\{[A-Z_][A-Z0-9_]*:(?:~\/|\/)[^}]*\})/, "is no path that begins with / or ~/");
const places = z.array(place).max(50).default([]);
const variables = z.array(z.string().regex(/^[A-Z_][A-Z0-9_]*$/, "is no name of a variable")).default([]);

const startedAgentSchema = z.strictObject({
  /** Name of its program on the search path. */
  program: z.string().regex(/^[\w.+-]{1,100}$/, "is no name of a program"),
  /** Its own directories: it reads what is there; what it writes there is dropped with the run. */
  directories: places,
  /** Files with its logins: hidden until a person says yes. */
  logins: places,
  /** Its own JSON files outside of those directories: it gets copies without these histories and logins. */
  files: z
    .array(z.strictObject({ path: place, histories: z.array(z.string()), logins: z.array(z.string()) }))
    .max(20)
    .default([]),
  /** What it remembers of other work: always hidden. */
  histories: places,
  /** Variables that hold a login, treated like the login files. */
  keys: variables,
  /** Variables that it gets besides those that every command gets. */
  variables,
  /** Hosts of its models. Empty if its user chooses the provider. */
  hosts: z
    .array(z.string().refine((text) => parseEndpoint(text) !== undefined, "is no HOST:PORT"))
    .max(20)
    .default([]),
  environment: z.record(z.string().regex(/^[A-Z_][A-Z0-9_]*$/), z.string().max(1000)).default({}),
  /** Words of which its arguments need one, so that it works without a terminal; empty if it always does. */
  unattended: z.array(z.string()).default([]),
});

/** What is known of another agent, to start it on a stage. */
export type StartedAgent = z.infer<typeof startedAgentSchema> & { readonly id: string };

const providerKeys = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "MISTRAL_API_KEY"];

const builtIn: Readonly<Record<string, z.input<typeof startedAgentSchema>>> = {
  "claude-code": {
    program: "claude",
    directories: ["{CLAUDE_CONFIG_DIR:~/.claude}"],
    logins: ["{CLAUDE_CONFIG_DIR:~/.claude}/.credentials.json"],
    histories: ["projects", "history.jsonl", "todos", "file-history", "shell-snapshots", "session-env", "debug"].map(
      (name) => `{CLAUDE_CONFIG_DIR:~/.claude}/${name}`,
    ),
    files: [
      {
        path: "{CLAUDE_CONFIG_DIR:~/}/.claude.json",
        histories: ["projects", "githubRepoPaths", "cachedChangelog", "tipsHistory"],
        logins: ["oauthAccount", "primaryApiKey", "customApiKeyResponses"],
      },
    ],
    keys: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
    variables: ["CLAUDE_CONFIG_DIR", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL"],
    hosts: ["api.anthropic.com:443"],
    // Run by root, the agent asks about everything unless it is in a sandbox, which is the case here.
    environment: { DISABLE_AUTOUPDATER: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", IS_SANDBOX: "1" },
    unattended: ["-p", "--print"],
  },
  codex: {
    program: "codex",
    directories: ["{CODEX_HOME:~/.codex}"],
    logins: ["{CODEX_HOME:~/.codex}/auth.json"],
    histories: ["sessions", "archived_sessions", "history.jsonl", "log"].map((name) => `{CODEX_HOME:~/.codex}/${name}`),
    keys: ["OPENAI_API_KEY", "CODEX_API_KEY"],
    variables: ["CODEX_HOME", "OPENAI_BASE_URL"],
    hosts: ["api.openai.com:443", "chatgpt.com:443"],
    unattended: ["exec", "e"],
  },
  gemini: {
    program: "gemini",
    directories: ["{GEMINI_CLI_HOME:~/}/.gemini"],
    logins: [
      "oauth_creds.json",
      "gemini-credentials.json",
      "mcp-oauth-tokens.json",
      "a2a-oauth-tokens.json",
      ".env",
    ].map((name) => `{GEMINI_CLI_HOME:~/}/.gemini/${name}`),
    histories: ["tmp", "history"].map((name) => `{GEMINI_CLI_HOME:~/}/.gemini/${name}`),
    keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    variables: ["GEMINI_CLI_HOME", "GEMINI_MODEL", "GOOGLE_GEMINI_BASE_URL"],
    hosts: ["generativelanguage.googleapis.com:443", "cloudcode-pa.googleapis.com:443", "oauth2.googleapis.com:443"],
    unattended: ["-p", "--prompt"],
  },
  opencode: {
    program: "opencode",
    directories: ["{XDG_CONFIG_HOME:~/.config}/opencode", "{XDG_CACHE_HOME:~/.cache}/opencode"],
    // The rest of that directory is its sessions, which it does not get.
    logins: ["{XDG_DATA_HOME:~/.local/share}/opencode/auth.json"],
    keys: providerKeys,
    environment: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_SHARE: "1" },
    unattended: ["run"],
  },
  pi: {
    program: "pi",
    directories: ["{PI_CODING_AGENT_DIR:~/.pi/agent}"],
    logins: ["{PI_CODING_AGENT_DIR:~/.pi/agent}/auth.json"],
    histories: ["{PI_CODING_AGENT_DIR:~/.pi/agent}/sessions"],
    keys: providerKeys,
    variables: ["PI_CODING_AGENT_DIR"],
    environment: { PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0" },
    unattended: ["-p", "--print"],
  },
};

const ownFile = "guard-agents.yaml";
const maxBytes = 64 * 1024;
const ownSchema = z.strictObject({ agents: z.record(z.string().regex(/^[a-z][a-z0-9-]{0,40}$/), startedAgentSchema) });

/**
 * The agent that the first word of a command line names, by its id or its program. Rejects with `CliError` for an unknown agent,
 * and for a file of the user's agents with any error in it.
 */
export async function startedAgentNamed(name: string, { environment }: Pick<Console, "environment">) {
  const directory = userConfigDir(environment);
  const own = await ownAgents(directory);
  const all = [
    ...Object.entries(builtIn).map(([id, row]): StartedAgent => ({ id, ...startedAgentSchema.parse(row) })),
    ...own,
  ];
  const found = all.find(({ id, program }) => id === name || program === name);
  if (found !== undefined) return found;
  throw usageError(
    `${JSON.stringify(name.slice(0, 100))} is not a known agent, so it is not started.`,
    `Agents: ${all.map(({ id }) => id).join(", ")}.`,
    `Describe another one in ${join(directory, ownFile)} (docs/guides/guard.md), or run a plain command: gennai try`,
  );
}

async function ownAgents(directory: string): Promise<readonly StartedAgent[]> {
  const file = join(directory, ownFile);
  let text: string;
  try {
    text = await readControlFile(realpathSync(directory), ownFile, maxBytes);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw unusable(file, errorMessage(error));
  }
  let data: unknown;
  try {
    ({ data } = parseStrictYaml(text, file));
  } catch (error) {
    throw unusable(file, errorMessage(error));
  }
  const read = ownSchema.safeParse(data);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw unusable(file, `${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`.trim());
  }
  return Object.entries(read.data.agents).map(([id, row]) => {
    const taken = Object.entries(builtIn).some(([other, { program }]) => [other, program].includes(id));
    if (taken) throw unusable(file, `agents.${id} is one of Gennai's own; give yours another name`);
    return { id, ...row };
  });
}

function unusable(file: string, why: string): CliError {
  return usageError(`${file} cannot be used: ${why}`, "Correct it, or remove it.");
}
