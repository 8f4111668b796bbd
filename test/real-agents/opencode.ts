import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { modelWires, startModelServer } from "@gennai/testkit/model-server/model-server";
import { chatAnswer, toldByChat } from "./chat-script.ts";
import { type Expected, fromNpm, type RealAgent } from "./real-agent.ts";

const version = "1.18.33";

const runs = (command: string): Expected["calls"] => [{ name: "bash", arguments: { command } }];

export const opencode: RealAgent = {
  id: "opencode",
  version,
  settings: ".opencode/plugins/gennai-guard.js",
  // It installs what plugins may import wherever it finds such a directory.
  leaves: /^\.opencode\/(?:\.gitignore|bun\.lock|package(?:-lock)?\.json|node_modules\/)/,
  calls: {
    reads: () => ({ calls: runs("ls src"), told: /a\.txt/, recorded: "outcome Bash allow" }),
    edits: (root) => ({
      calls: [
        { name: "read", arguments: { filePath: join(root, "src/a.txt") } },
        { name: "edit", arguments: { filePath: join(root, "src/a.txt"), oldString: "one", newString: "1" } },
      ],
      told: /applied successfully/,
      recorded: "outcome Edit allow verified src/a.txt",
    }),
    fails: (root) => ({
      calls: [{ name: "edit", arguments: { filePath: join(root, "src/a.txt"), oldString: "none", newString: "1" } }],
      told: /Could not find oldString/,
      recorded: "outcome Edit allow failed",
    }),
    asks: () => ({ calls: runs("touch made"), told: /nobody can be asked/, recorded: "refusal Bash deny nobody" }),
    destroys: () => ({ calls: runs("rm -rf ~/ src"), told: /Gennai, rule/, recorded: "refusal Bash deny" }),
    leavesScope: (root) => ({
      calls: [{ name: "write", arguments: { filePath: join(root, "docs/new.txt"), content: "x" } }],
      told: /Gennai, rule/,
      recorded: "refusal Write deny",
    }),
    unhooks: () => ({
      calls: runs("rm .opencode/plugins/gennai-guard.js"),
      told: /Gennai, rule/,
      recorded: "refusal Bash deny",
    }),
    creates: (root) => ({
      calls: [{ name: "write", arguments: { filePath: join(root, "src/new.txt"), content: "x" } }],
      told: /emergency\/read-only/,
      recorded: "refusal Write deny",
    }),
    looks: () => ({
      calls: runs("ls src"),
      // It is told to stop, and may ask its model no more.
      told: /stopped by an emergency control|nothing/,
      said: /stopped by an emergency control/,
      recorded: "refusal Bash deny",
    }),
  },

  ownRun: {
    wire: modelWires["openai-compatible"],
    answer: chatAnswer,
    program: "opencode",
    files: (baseUrl) => ({
      ".config/opencode/opencode.json": JSON.stringify(configuration(baseUrl)),
      ".local/share/opencode/auth.json": '{"scripted":{"type":"api","key":"a-login-of-the-trial"}}',
    }),
    login: ".local/share/opencode/auth.json",
    settings: ".config/opencode/opencode.json",
    args: ["run", "-m", "scripted/model", "go"],
    calls: runs,
  },

  program(directory) {
    const packaged = fromNpm(directory, "opencode-ai", version, (place) => {
      // npm may leave this to be approved.
      execFileSync(process.execPath, [join(place, "postinstall.mjs")], { cwd: place, stdio: "inherit" });
    });
    return join(packaged, "bin", "opencode.exe");
  },

  async play(program, calls, cwd, environment) {
    const home = environment["HOME"] ?? "";
    const told: string[] = [];
    await using model = await startModelServer(modelWires["openai-compatible"], (_count, { body }) => {
      told.push(...toldByChat(body).slice(told.length));
      return chatAnswer(body, calls);
    });
    const settings = join(home, ".config/opencode/opencode.json");
    mkdirSync(dirname(settings), { recursive: true });
    writeFileSync(settings, JSON.stringify(configuration(model.baseUrl)));
    const agent = spawn(program, ["run", "--format", "json", "--print-logs", "-m", "scripted/model", "go"], {
      cwd,
      env: {
        ...environment,
        XDG_CONFIG_HOME: join(home, ".config"),
        XDG_DATA_HOME: join(home, ".local/share"),
        XDG_CACHE_HOME: join(home, ".cache"),
        XDG_STATE_HOME: join(home, ".local/state"),
        OPENCODE_DISABLE_MODELS_FETCH: "1",
        OPENCODE_DISABLE_AUTOUPDATE: "1",
        OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
        OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
        OPENCODE_DISABLE_SHARE: "1",
      },
      stdio: ["ignore", "pipe", "ignore"],
      timeout: 180_000,
    });
    const said = await text(agent.stdout);
    return { told: told.at(-1) ?? "nothing", said };
  },
};

function configuration(baseURL: string): object {
  return {
    autoupdate: false,
    share: "disabled",
    model: "scripted/model",
    small_model: "scripted/model",
    permission: "allow",
    provider: {
      scripted: {
        npm: "@ai-sdk/openai-compatible",
        name: "Scripted",
        options: { baseURL, apiKey: "none" },
        models: { model: { name: "Model", tool_call: true, limit: { context: 400_000, output: 65_536 } } },
      },
    },
  };
}
