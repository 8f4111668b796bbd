import { execFileSync, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { ModelAnswer } from "@gennai/testkit/model-server/model-answer";
import { modelWires, startModelServer } from "@gennai/testkit/model-server/model-server";
import * as z from "zod";
import { type Expected, fromNpm, type RealAgent } from "./real-agent.ts";

const version = "2.1.332";

export const claudeCode: RealAgent = {
  id: "claude-code",
  version,
  settings: ".claude/settings.local.json",
  calls: {
    reads: () => ({
      calls: [{ name: "Bash", arguments: { command: "ls src" } }],
      told: /a\.txt/,
      recorded: "outcome Bash allow",
    }),
    edits: (root) => ({
      calls: [
        { name: "Read", arguments: { file_path: join(root, "src/a.txt") } },
        { name: "Edit", arguments: { file_path: join(root, "src/a.txt"), old_string: "one", new_string: "1" } },
      ],
      told: /updated successfully/,
      recorded: "outcome Edit allow verified src/a.txt",
    }),
    asks: () => ({
      calls: [{ name: "Bash", arguments: { command: "touch made" } }],
      told: /not proven to only read/,
      recorded: "outcome Bash ask passed-on failed",
    }),
    destroys: () => ({
      calls: [{ name: "Bash", arguments: { command: "rm -rf ~/ src" } }],
      told: /Gennai, rule/,
      recorded: "refusal Bash deny",
    }),
    leavesScope: (root) => ({
      calls: [{ name: "Write", arguments: { file_path: join(root, "docs/new.txt"), content: "x" } }],
      told: /Gennai, rule/,
      recorded: "refusal Write deny",
    }),
    waits: (root) => ({
      calls: [
        { name: "Bash", arguments: { command: "sleep 15" } },
        { name: "Write", arguments: { file_path: join(root, "docs/new.txt"), content: "x" } },
      ],
      told: /Gennai, rule/,
      recorded: "refusal Write deny",
    }),
    unhooks: () => ({
      calls: [{ name: "Bash", arguments: { command: "rm .claude/settings.local.json" } }],
      told: /Gennai, rule/,
      recorded: "refusal Bash deny",
    }),
    creates: (root) => ({
      calls: [{ name: "Write", arguments: { file_path: join(root, "src/new.txt"), content: "x" } }],
      told: /emergency\/read-only/,
      recorded: "refusal Write deny",
    }),
    looks: (root) => ({
      calls: [{ name: "Read", arguments: { file_path: join(root, "src/a.txt") } }],
      told: /stopped by an emergency control/,
      recorded: "refusal Read deny",
    }),
  },

  ownRun: {
    wire: modelWires.anthropic,
    answer,
    program: "claude",
    environment: (baseUrl) => ({ ANTHROPIC_BASE_URL: baseUrl.replace(/\/v1$/, "") }),
    files: () => ({
      ".claude/settings.json": JSON.stringify({ apiKeyHelper: "echo sk-ant-none" }),
      ".claude/.credentials.json": '{"mcpOAuth":{"key":"a-login-of-the-trial"}}',
      ".claude.json": JSON.stringify({
        hasCompletedOnboarding: true,
        theme: "dark-of-the-trial",
        projects: { "/elsewhere": { history: [{ display: "what-was-said-elsewhere" }] } },
      }),
    }),
    login: ".claude/.credentials.json",
    settings: ".claude/settings.json",
    copied: { path: ".claude.json", shown: "dark-of-the-trial", left: "what-was-said-elsewhere" },
    args: ["-p", "go", "--permission-mode", "bypassPermissions"],
    calls: (command) => [{ name: "Bash", arguments: { command } }],
  },

  hooksOff: {
    ".claude/settings.json": '{"disableAllHooks":true}',
    ".claude/settings.local.json": '{"disableAllHooks":true}',
  },

  program(directory) {
    const packaged = fromNpm(directory, "@anthropic-ai/claude-code", version, (place) => {
      // npm may leave this to be approved.
      execFileSync(process.execPath, [join(place, "install.cjs")], { cwd: place, stdio: "inherit" });
    });
    return join(packaged, "bin", "claude.exe");
  },

  async play(program, calls, cwd, environment) {
    await using model = await startModelServer(modelWires.anthropic, (_count, { body }) => answer(body, calls));
    const known = { hasCompletedOnboarding: true, projects: { [cwd]: { hasTrustDialogAccepted: true } } };
    writeFileSync(join(environment["HOME"] ?? "", ".claude.json"), JSON.stringify(known));
    const agent = spawn(
      program,
      ["-p", "go", "--output-format", "stream-json", "--verbose", "--permission-mode", "bypassPermissions"],
      {
        cwd,
        env: {
          ...environment,
          ANTHROPIC_BASE_URL: model.baseUrl.replace(/\/v1$/, ""),
          ANTHROPIC_API_KEY: "sk-ant-none",
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          DISABLE_AUTOUPDATER: "1",
          DISABLE_TELEMETRY: "1",
          DISABLE_ERROR_REPORTING: "1",
          // It refuses bypassPermissions as root elsewhere.
          IS_SANDBOX: "1",
        },
        stdio: ["ignore", "pipe", "inherit"],
        timeout: 120_000,
      },
    );
    const said = await text(agent.stdout);
    const lines = said.split("\n").filter((line) => line !== "");
    const results = lines.flatMap((line) => {
      const message = resultMessage.safeParse(JSON.parse(line));
      return message.success ? message.data.message.content.map(({ content }) => JSON.stringify(content)) : [];
    });
    return { told: results.at(-1) ?? "nothing", said };
  },
};

const messages = z.looseObject({
  messages: z.array(z.looseObject({ content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]) })),
  tools: z.array(z.unknown()).default([]),
});

/** The next call after those that have a result. It also asks for a title and such, without tools. */
function answer(body: Readonly<Record<string, unknown>>, calls: Expected["calls"]): ModelAnswer {
  const { messages: said, tools } = messages.parse(body);
  if (tools.length === 0) return { text: ["ok"] };
  const parts = said.flatMap(({ content }) => (typeof content === "string" ? [] : content));
  const done = parts.filter(({ type }) => type === "tool_result").length;
  const call = calls[done];
  return call === undefined ? { text: ["Done."] } : { calls: [{ id: `toolu_${done}`, ...call }] };
}

const resultMessage = z.object({
  type: z.literal("user"),
  message: z.object({ content: z.array(z.object({ type: z.literal("tool_result"), content: z.unknown() })) }),
});
