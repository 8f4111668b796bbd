import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { ModelAnswer } from "@gennai/testkit/model-server/model-answer";
import { modelWires, startModelServer } from "@gennai/testkit/model-server/model-server";
import * as z from "zod";
import { type Expected, fromNpm, type RealAgent } from "./real-agent.ts";

const version = "0.171.0";

const runs = (cmd: string): Expected["calls"] => [{ name: "exec_command", arguments: { cmd } }];
const patches = (...lines: readonly string[]): Expected["calls"] => [
  { name: "apply_patch", arguments: {}, input: ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n") },
];

export const codex: RealAgent = {
  id: "codex",
  version,
  settings: ".codex/hooks.json",
  calls: {
    reads: () => ({ calls: runs("ls src"), told: /a\.txt/, recorded: "outcome Bash allow" }),
    edits: () => ({
      calls: patches("*** Update File: src/a.txt", "@@", "-one", "+1"),
      told: /Success/,
      recorded: "outcome Patch allow verified src/a.txt",
    }),
    asks: () => ({ calls: runs("touch made"), told: /nobody can be asked/, recorded: "refusal Bash deny nobody" }),
    destroys: () => ({ calls: runs("rm -rf ~/ src"), told: /Gennai, rule/, recorded: "refusal Bash deny" }),
    leavesScope: () => ({
      calls: patches("*** Add File: docs/new.txt", "+x"),
      told: /Gennai, rule/,
      recorded: "refusal Patch deny",
    }),
    unhooks: () => ({ calls: runs("rm .codex/hooks.json"), told: /Gennai, rule/, recorded: "refusal Bash deny" }),
    creates: () => ({
      calls: patches("*** Add File: src/new.txt", "+x"),
      told: /emergency\/read-only/,
      recorded: "refusal Patch deny",
    }),
    looks: () => ({ calls: runs("ls src"), told: /stopped by an emergency control/, recorded: "refusal Bash deny" }),
  },

  ownRun: {
    wire: modelWires.openai,
    answer,
    program: "codex",
    files: (baseUrl) => ({
      ".codex/config.toml": configuration(baseUrl, "/nowhere", ""),
      ".codex/auth.json": '{"OPENAI_API_KEY":"a-login-of-the-trial"}',
    }),
    login: ".codex/auth.json",
    settings: ".codex/config.toml",
    args: ["exec", "--sandbox", "danger-full-access", "go"],
    calls: runs,
  },

  hooksOff: { ".codex/hooks.json": '{"hooks":{}}' },

  program(directory) {
    const packaged = fromNpm(directory, "@openai/codex", version);
    return join(packaged, "bin", "codex.js");
  },

  async play(program, calls, cwd, environment, { managed }) {
    const told: string[] = [];
    await using model = await startModelServer(modelWires.openai, (count, { body }) => {
      const { input } = requestBody.parse(body);
      const { output } = callResult.safeParse(input.at(-1)).data ?? {};
      if (output !== undefined) told.push(JSON.stringify(output));
      const call = calls[count - 1];
      return call === undefined ? { text: ["Done."] } : { calls: [{ id: `call_${count}`, ...call }] };
    });
    const home = join(environment["HOME"] ?? "", ".codex");
    mkdirSync(home, { recursive: true });
    const off = managed ? "[features]\nhooks = false\n" : "";
    writeFileSync(join(home, "config.toml"), configuration(model.baseUrl, cwd, 'env_key = "MODEL_KEY"') + off);
    // It is not asked whether it trusts the hook: its user does that in its window, by /hooks. One for all users needs no trust.
    const trust = managed ? [] : ["--dangerously-bypass-hook-trust"];
    const flags = ["--json", ...trust, "--dangerously-bypass-approvals-and-sandbox"];
    const agent = spawn(process.execPath, [program, "exec", ...flags, "go"], {
      cwd,
      env: { ...environment, CODEX_HOME: home, MODEL_KEY: "none" },
      stdio: ["ignore", "pipe", "ignore"],
      timeout: 120_000,
    });
    const said = await text(agent.stdout);
    return { told: told.at(-1) ?? "nothing", said };
  },
};

/** The next call after those that have a result. */
function answer(body: Readonly<Record<string, unknown>>, calls: Expected["calls"]): ModelAnswer {
  const done = requestBody.parse(body).input.filter((item) => callResult.safeParse(item).success).length;
  const call = calls[done];
  return call === undefined ? { text: ["Done."] } : { calls: [{ id: `call_${done}`, ...call }] };
}

const requestBody = z.looseObject({ input: z.array(z.unknown()) });
const callResult = z.looseObject({ output: z.unknown() });

/** @param key a line that says where its key is */
function configuration(baseUrl: string, project: string, key: string): string {
  return `model = "gpt-5.5"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[feedback]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "${baseUrl}"
wire_api = "responses"
${key}
request_max_retries = 0
[projects."${project}"]
trust_level = "trusted"
`;
}
