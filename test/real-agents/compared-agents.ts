import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { ModelAnswer, ModelWire } from "@gennai/testkit/model-server/model-answer";
import { modelWires } from "@gennai/testkit/model-server/model-server";
import { chatAnswer } from "./chat-script.ts";
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { opencode } from "./opencode.ts";
import { pi } from "./pi.ts";
import { type Expected, fromNpm, type OwnRun } from "./real-agent.ts";

/** An agent as a script starts it for the first time, without a setting that allows anything. */
export interface ComparedAgent {
  readonly id: string;
  /** As the table calls it. */
  readonly name: string;
  readonly wire: ModelWire;
  answer(body: Readonly<Record<string, unknown>>, calls: Expected["calls"]): ModelAnswer;
  /** Program and arguments; installed below the directory where it is not there yet. */
  program(directory: string): readonly string[];
  /** Words that make it work on one prompt. */
  args(baseUrl: string): readonly string[];
  environment?(baseUrl: string): Readonly<Record<string, string>>;
  /** Its files below the home, by path: where its model is, and nothing else. */
  files?(baseUrl: string): Readonly<Record<string, string>>;
  /** Arguments of a first start that notes where its model is. */
  setUp?(baseUrl: string): readonly string[];
  calls(command: string): Expected["calls"];
}

const quietClaude = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1", DISABLE_TELEMETRY: "1" };
const chat = { wire: modelWires["openai-compatible"], answer: chatAnswer };
const bash = (command: string): Expected["calls"] => [{ name: "bash", arguments: { command } }];

const viaResponses = (id: string, name: string, flags: readonly string[]): ComparedAgent => ({
  ...spoken(codex.ownRun),
  id,
  name,
  program: (directory) => [process.execPath, codex.program(directory)],
  args: () => ["exec", ...flags, "go"],
  environment: () => ({ MODEL_KEY: "none" }),
  files: (baseUrl) => ({
    ".codex/config.toml": `model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "${baseUrl}"
wire_api = "responses"
env_key = "MODEL_KEY"
request_max_retries = 0
`,
  }),
});

export const comparedAgents: readonly ComparedAgent[] = [
  {
    ...chat,
    id: "gennai",
    name: "Gennai",
    program: () => [process.execPath, join(import.meta.dirname, "../../dist/gennai.mjs")],
    args: (baseUrl) => ["run", "--backend", "openai-compatible", "--base-url", baseUrl, "--model", "model", "go"],
    environment: () => ({ GENNAI_API_KEY: "none" }),
    calls: (command) => [{ name: "Bash", arguments: { command } }],
  },
  {
    ...spoken(claudeCode.ownRun),
    id: "claude-code",
    name: "Claude Code",
    program: (directory) => [claudeCode.program(directory)],
    args: () => ["-p", "go"],
    environment: (baseUrl) => ({
      ...quietClaude,
      ANTHROPIC_BASE_URL: baseUrl.replace(/\/v1$/, ""),
      ANTHROPIC_API_KEY: "sk-ant-none",
    }),
  },
  {
    ...chat,
    id: "copilot",
    name: "Copilot",
    program: (directory) => [process.execPath, copilot.program(directory)],
    args: () => ["-p", "go", "--no-auto-update"],
    environment: (baseUrl) => ({
      COPILOT_OFFLINE: "true",
      COPILOT_PROVIDER_BASE_URL: baseUrl,
      COPILOT_PROVIDER_API_KEY: "none",
      COPILOT_MODEL: "model",
      COPILOT_PROVIDER_MAX_PROMPT_TOKENS: "400000",
      COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: "65536",
    }),
    calls: (command) => [{ name: "bash", arguments: { command, description: "go" } }],
  },
  viaResponses("codex", "Codex", []),
  viaResponses("codex-workspace-write", "Codex with `workspace-write`", ["--sandbox", "workspace-write"]),
  {
    ...chat,
    id: "opencode",
    name: "opencode",
    program: (directory) => [opencode.program(directory)],
    args: () => ["run", "-m", "scripted/model", "go"],
    environment: () => ({ OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_AUTOUPDATE: "1" }),
    files: (baseURL) => ({
      ".config/opencode/opencode.json": JSON.stringify({
        provider: {
          scripted: {
            npm: "@ai-sdk/openai-compatible",
            options: { baseURL, apiKey: "none" },
            models: { model: { tool_call: true, limit: { context: 400_000, output: 65_536 } } },
          },
        },
      }),
    }),
    calls: bash,
  },
  {
    ...chat,
    id: "goose",
    name: "goose",
    program: (directory) => [join(fromNpm(directory, "@aaif/goose-binary-linux-x64", "1.52.0"), "bin", "goose")],
    args: () => ["run", "-t", "go", "--no-profile", "--with-builtin", "developer"],
    environment: (baseUrl) => ({
      GOOSE_PROVIDER: "openai",
      GOOSE_MODEL: "model",
      OPENAI_HOST: baseUrl.replace(/\/v1$/, ""),
      OPENAI_API_KEY: "none",
      GOOSE_DISABLE_KEYRING: "1",
      GOOSE_TELEMETRY_OFF: "1",
    }),
    calls: (command) => [{ name: "shell", arguments: { command } }],
  },
  {
    ...chat,
    id: "pi",
    name: "pi",
    program: (directory) => [process.execPath, pi.program(directory)],
    args: () => ["-p", "--provider", "scripted", "--model", "model", "--offline", "go"],
    environment: () => ({ PI_OFFLINE: "1", PI_TELEMETRY: "0", PI_SKIP_VERSION_CHECK: "1" }),
    files: (baseUrl) => ({
      ".pi/agent/models.json": JSON.stringify({
        providers: {
          scripted: {
            baseUrl,
            api: "openai-completions",
            apiKey: "none",
            models: [{ id: "model", contextWindow: 400_000 }],
          },
        },
      }),
    }),
    calls: bash,
  },
  {
    ...chat,
    id: "cline",
    name: "Cline",
    program: (directory) => [
      join(fromNpm(directory, "cline", "3.0.65"), "..", "@cline", "cli-linux-x64", "bin", "cline"),
    ],
    setUp: (baseUrl) => ["auth", "-p", "openai-compatible", "-k", "none", "-b", baseUrl, "-m", "model"],
    args: () => ["--json", "do it"],
    environment: () => ({
      CLINE_TELEMETRY_DISABLED: "1",
      CLINE_NO_AUTO_UPDATE: "1",
      POSTHOG_TELEMETRY_ENABLED: "false",
    }),
    calls: (command) => [{ name: "run_commands", arguments: { commands: [command] } }],
  },
];

function spoken(own: OwnRun | undefined): Pick<ComparedAgent, "wire" | "answer" | "calls"> {
  if (own === undefined) throw new TypeError("This agent has no run of its own.");
  return { wire: own.wire, answer: own.answer, calls: own.calls };
}

/** What the program says of itself, e.g. `1.6.0`. */
export function versionOf([program = "", ...args]: readonly string[], environment: NodeJS.ProcessEnv): string {
  const said = execFileSync(program, [...args, "--version"], { env: environment, encoding: "utf8", timeout: 60_000 });
  return /\d+\.\d+\.\d+/.exec(said)?.[0] ?? said.trim();
}
