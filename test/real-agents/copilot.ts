import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { modelWires, startModelServer } from "@gennai/testkit/model-server/model-server";
import { chatAnswer, toldByChat } from "./chat-script.ts";
import { type Expected, fromNpm, type RealAgent } from "./real-agent.ts";

const version = "1.0.102";

const runs = (command: string): Expected["calls"] => [{ name: "bash", arguments: { command, description: "go" } }];
const creates = (path: string): Expected["calls"] => [{ name: "create", arguments: { path, file_text: "x" } }];
const edits = (root: string, old_str: string): Expected["calls"] => [
  { name: "edit", arguments: { path: join(root, "src/a.txt"), old_str, new_str: "1" } },
];

export const copilot: RealAgent = {
  id: "copilot",
  version,
  settings: ".github/copilot/settings.local.json",
  calls: {
    reads: () => ({ calls: runs("ls src"), told: /a\.txt/, recorded: "outcome Bash allow" }),
    edits: (root) => ({
      calls: [{ name: "view", arguments: { path: join(root, "src/a.txt") } }, ...edits(root, "one")],
      told: /updated with changes/,
      recorded: "outcome Edit allow verified src/a.txt",
    }),
    fails: (root) => ({ calls: edits(root, "none"), told: /./, recorded: "outcome Edit allow failed" }),
    asks: () => ({
      calls: runs("touch made"),
      told: /unable to ask user.*not proven to only read/,
      recorded: "outcome Bash ask passed-on failed",
    }),
    destroys: () => ({ calls: runs("rm -rf ~/ src"), told: /Gennai, rule/, recorded: "refusal Bash deny" }),
    leavesScope: (root) => ({
      calls: creates(join(root, "docs/new.txt")),
      told: /Gennai, rule/,
      recorded: "refusal Write deny",
    }),
    unhooks: () => ({
      calls: runs("rm .github/copilot/settings.local.json"),
      told: /Gennai, rule/,
      recorded: "refusal Bash deny",
    }),
    creates: (root) => ({
      calls: creates(join(root, "src/new.txt")),
      told: /emergency\/read-only/,
      recorded: "refusal Write deny",
    }),
    looks: () => ({ calls: runs("ls src"), told: /stopped by an emergency control/, recorded: "refusal Bash deny" }),
  },

  program(directory) {
    return join(fromNpm(directory, "@github/copilot", version), "npm-loader.js");
  },

  async play(program, calls, cwd, environment) {
    const told: string[] = [];
    await using model = await startModelServer(modelWires["openai-compatible"], (_count, { body }) => {
      told.push(...toldByChat(body).slice(told.length));
      return chatAnswer(body, calls);
    });
    const home = join(environment["HOME"] ?? "", ".copilot");
    mkdirSync(home, { recursive: true });
    // The hook is the project's: its user has said that this one is trusted.
    writeFileSync(join(home, "config.json"), JSON.stringify({ trusted_folders: [cwd] }));
    const flags = ["--allow-all-tools", "--allow-all-paths", "--no-auto-update", "--output-format", "json"];
    const agent = spawn(process.execPath, [program, "-p", "go", ...flags, "--disable-client-telemetry"], {
      cwd,
      env: {
        ...environment,
        COPILOT_OFFLINE: "true",
        COPILOT_AUTO_UPDATE: "false",
        COPILOT_PROVIDER_BASE_URL: model.baseUrl,
        COPILOT_PROVIDER_API_KEY: "none",
        COPILOT_MODEL: "model",
        COPILOT_PROVIDER_MAX_PROMPT_TOKENS: "400000",
        COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: "65536",
      },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 120_000,
    });
    const [said, complained] = await Promise.all([text(agent.stdout), text(agent.stderr)]);
    return { told: told.at(-1) ?? "nothing", said: said + complained };
  },
};
