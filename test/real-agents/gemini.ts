import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { ModelAnswer } from "@gennai/testkit/model-server/model-answer";
import { modelWires, startModelServer } from "@gennai/testkit/model-server/model-server";
import * as z from "zod";
import { type Expected, fromNpm, type RealAgent } from "./real-agent.ts";

const version = "0.61.0";

const flags = ["-y", "--skip-trust", "-o", "stream-json", "-m", "gemini-2.5-pro"];
const runs = (command: string): Expected["calls"] => [{ name: "run_shell_command", arguments: { command } }];
const writes = (file_path: string): Expected["calls"] => [
  { name: "write_file", arguments: { file_path, content: "x" } },
];

const settings = {
  security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  model: { skipNextSpeakerCheck: true, disableLoopDetection: true },
};

export const gemini: RealAgent = {
  id: "gemini",
  version,
  settings: ".gemini/settings.json",
  calls: {
    reads: () => ({ calls: runs("ls src"), told: /a\.txt/, recorded: "outcome Bash allow" }),
    edits: (root) => ({
      calls: [
        { name: "read_file", arguments: { file_path: "src/a.txt" } },
        {
          name: "replace",
          arguments: { file_path: join(root, "src/a.txt"), instruction: "count", old_string: "one", new_string: "1" },
        },
      ],
      told: /Successfully modified/,
      recorded: "outcome Edit allow verified src/a.txt",
    }),
    fails: (root) => ({
      calls: [
        {
          name: "replace",
          arguments: { file_path: join(root, "src/a.txt"), instruction: "count", old_string: "none", new_string: "1" },
        },
      ],
      told: /Could not find/,
      recorded: "outcome Edit allow failed",
    }),
    asks: () => ({ calls: runs("touch made"), told: /nobody can be asked/, recorded: "refusal Bash deny nobody" }),
    destroys: () => ({ calls: runs("rm -rf ~/ src"), told: /Gennai, rule/, recorded: "refusal Bash deny" }),
    leavesScope: () => ({ calls: writes("docs/new.txt"), told: /Gennai, rule/, recorded: "refusal Write deny" }),
    unhooks: () => ({ calls: runs("rm .gemini/settings.json"), told: /Gennai, rule/, recorded: "refusal Bash deny" }),
    creates: () => ({ calls: writes("src/new.txt"), told: /emergency\/read-only/, recorded: "refusal Write deny" }),
    looks: () => ({
      calls: runs("ls src"),
      told: /nothing|stopped by/,
      said: /stopped by an emergency control/,
      recorded: "refusal Bash deny",
    }),
  },

  ownRun: {
    wire: modelWires.gemini,
    answer,
    program: "gemini",
    environment: (baseUrl) => ({ GOOGLE_GEMINI_BASE_URL: baseUrl.replace(/\/v1beta$/, ""), GEMINI_API_KEY: "none" }),
    needsLogin: /must specify the GEMINI_API_KEY/,
    files: () => ({
      ".gemini/settings.json": JSON.stringify(settings),
      ".gemini/oauth_creds.json": '{"access_token":"a-login-of-the-trial"}',
    }),
    login: ".gemini/oauth_creds.json",
    settings: ".gemini/settings.json",
    args: ["-p", "go", ...flags],
    calls: runs,
  },

  program(directory) {
    return join(fromNpm(directory, "@google/gemini-cli", version), "bundle", "gemini.js");
  },

  async play(program, calls, cwd, environment) {
    const told: string[] = [];
    await using model = await startModelServer(modelWires.gemini, (_count, { body }) => {
      const results = resultsIn(body);
      told.push(...results.slice(told.length));
      return answer(body, calls);
    });
    const home = join(environment["HOME"] ?? "", ".gemini");
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "settings.json"), JSON.stringify(settings));
    const agent = spawn(process.execPath, [program, "-p", "go", ...flags], {
      cwd,
      env: {
        ...environment,
        GEMINI_API_KEY: "none",
        GOOGLE_GEMINI_BASE_URL: model.baseUrl.replace(/\/v1beta$/, ""),
        GEMINI_TELEMETRY_ENABLED: "false",
        GEMINI_CLI_NO_RELAUNCH: "true",
      },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 120_000,
    });
    const [said, complained] = await Promise.all([text(agent.stdout), text(agent.stderr)]);
    return { told: told.at(-1) ?? "nothing", said: said + complained };
  },
};

/** The next call after those that have a result. It also asks for summaries and such, without tools. */
function answer(body: Readonly<Record<string, unknown>>, calls: Expected["calls"]): ModelAnswer {
  if (!Array.isArray(body["tools"])) return { text: ["ok"] };
  const done = resultsIn(body).length;
  const call = calls[done];
  return call === undefined ? { text: ["Done."] } : { calls: [{ id: `call_${done}`, ...call }] };
}

function resultsIn(body: unknown): readonly string[] {
  return requestBody.parse(body).contents.flatMap(({ parts }) => parts.flatMap(resultOf));
}

const requestBody = z.looseObject({ contents: z.array(z.looseObject({ parts: z.array(z.unknown()).default([]) })) });
const callResult = z.looseObject({ functionResponse: z.looseObject({ response: z.unknown() }) });

function resultOf(part: unknown): readonly string[] {
  const { success, data } = callResult.safeParse(part);
  return success ? [JSON.stringify(data.functionResponse.response)] : [];
}
