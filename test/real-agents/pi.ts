import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { modelWires, startModelServer } from "@gennai/testkit/model-server/model-server";
import * as z from "zod";
import { chatAnswer, toldByChat } from "./chat-script.ts";
import { type Expected, fromNpm, type RealAgent } from "./real-agent.ts";

const version = "1.6.0";

const runs = (command: string): Expected["calls"] => [{ name: "bash", arguments: { command } }];
const writes = (path: string): Expected["calls"] => [{ name: "write", arguments: { path, content: "x" } }];
const stops = /stopped by an emergency control/;

export const pi: RealAgent = {
  id: "pi",
  version,
  settings: ".pi/extensions/gennai-guard.js",
  calls: {
    reads: () => ({ calls: runs("ls src"), told: /a\.txt/, recorded: "outcome Bash allow" }),
    edits: () => ({
      calls: [
        { name: "read", arguments: { path: "src/a.txt" } },
        { name: "edit", arguments: { path: "src/a.txt", edits: [{ oldText: "one", newText: "1" }] } },
      ],
      told: /Successfully replaced/,
      recorded: "outcome MultiEdit allow verified src/a.txt",
    }),
    fails: () => ({
      calls: [{ name: "edit", arguments: { path: "src/a.txt", edits: [{ oldText: "none", newText: "1" }] } }],
      told: /Could not find/,
      recorded: "outcome MultiEdit allow failed",
    }),
    asks: () => ({ calls: runs("touch made"), told: /user said no/, recorded: "outcome Bash ask passed-on failed" }),
    agrees: () => ({
      calls: runs("touch agreed"),
      agrees: true,
      told: /no output/,
      recorded: "outcome Bash ask passed-on agreed",
    }),
    destroys: () => ({ calls: runs("rm -rf ~/ src"), told: /Gennai, rule/, recorded: "refusal Bash deny" }),
    leavesScope: () => ({ calls: writes("docs/new.txt"), told: /Gennai, rule/, recorded: "refusal Write deny" }),
    unhooks: () => ({
      calls: runs("rm .pi/extensions/gennai-guard.js"),
      told: /Gennai, rule/,
      recorded: "refusal Bash deny",
    }),
    creates: () => ({ calls: writes("@src/new.txt"), told: /emergency\/read-only/, recorded: "refusal Write deny" }),
    looks: () => ({ calls: runs("ls src"), told: /nothing|stopped by/, said: stops, recorded: "refusal Bash deny" }),
  },

  ownRun: {
    wire: modelWires["openai-compatible"],
    answer: chatAnswer,
    program: "pi",
    files: (baseUrl) => ({
      ".pi/agent/models.json": JSON.stringify(models(baseUrl)),
      ".pi/agent/settings.json": "{}",
      ".pi/agent/auth.json": '{"scripted":{"type":"api_key","key":"a-login-of-the-trial"}}',
    }),
    login: ".pi/agent/auth.json",
    settings: ".pi/agent/settings.json",
    args: ["-p", "--provider", "scripted", "--model", "model", "--offline", "go"],
    calls: runs,
  },

  program(directory) {
    return join(fromNpm(directory, "@earendil-works/pi-coding-agent", version), "dist", "cli.js");
  },

  /** In its RPC mode, where a user can be asked. */
  async play(program, calls, cwd, environment, { agrees }) {
    const home = join(environment["HOME"] ?? "", ".pi", "agent");
    const told: string[] = [];
    await using model = await startModelServer(modelWires["openai-compatible"], (_count, { body }) => {
      told.push(...toldByChat(body).slice(told.length));
      return chatAnswer(body, calls);
    });
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "models.json"), JSON.stringify(models(model.baseUrl)));
    writeFileSync(join(home, "settings.json"), JSON.stringify({ enableInstallTelemetry: false, quietStartup: true }));
    // The extension is the project's: its user has said that this one is trusted.
    const flags = ["--mode", "rpc", "--approve", "--provider", "scripted", "--model", "model", "--offline"];
    const agent = spawn(process.execPath, [program, ...flags], {
      cwd,
      env: { ...environment, PI_OFFLINE: "1", PI_TELEMETRY: "0", PI_SKIP_VERSION_CHECK: "1" },
      stdio: ["pipe", "pipe", "inherit"],
      timeout: 120_000,
    });
    const send = (command: object): void => void agent.stdin.write(`${JSON.stringify(command)}\n`);
    send({ type: "prompt", message: "go" });
    const lines: string[] = [];
    for await (const line of createInterface({ input: agent.stdout })) {
      lines.push(line);
      const { data } = message.safeParse(JSON.parse(line));
      if (data?.type === "extension_ui_request" && data.method === "confirm") {
        send({ type: "extension_ui_response", id: data.id, confirmed: agrees });
      }
      if (data?.type === "agent_settled") agent.stdin.end();
    }
    return { told: told.at(-1) ?? "nothing", said: lines.join("\n") };
  },
};

const message = z.looseObject({ type: z.string(), id: z.string().optional(), method: z.string().optional() });

function models(baseUrl: string): object {
  const model = { id: "model", name: "Model", contextWindow: 400_000, maxTokens: 65_536 };
  return { providers: { scripted: { baseUrl, api: "openai-completions", apiKey: "none", models: [model] } } };
}
