import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { connectGovernance } from "@gennai/client/connection/connection";
import { EmergencyControl } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { builtProgram } from "@gennai/testkit/built-program";
import type { AnswerCall } from "@gennai/testkit/model-server/model-answer";
import { modelWires, startModelServer } from "@gennai/testkit/model-server/model-server";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer } from "@gennai/testkit/test-server";
import * as z from "zod";

const version = "2.1.330";
const help = `npm run guard:real [-- OPTIONS]    the real Claude Code ${version} from npm, guarded, against a scripted model on the loopback

Installs it into .cache/real-agents, puts the hook in place in a project and a home of its own, lets the model call tools, and
compares what the agent said, what is on the disk and what the ledger has. Ends with 1 when one of them is not as it should be.

Options:
  --program FILE   a Claude Code that is there already
  --timings N      only measures the hook: N calls of it, from its start to its end
  --help           this text
`;
const repository = fileURLToPath(new URL("../..", import.meta.url));
const cli = builtProgram(new URL("../../packages/cli/src/main.ts", import.meta.url));

const { values } = parseArgs({
  options: { program: { type: "string" }, timings: { type: "string" }, help: { type: "boolean" } },
});

/** What the scripted model calls, and what should come of it. */
interface Scene {
  readonly name: string;
  readonly calls: readonly Omit<AnswerCall, "id">[];
  /** Part of the result that the model is told of the last call. */
  readonly told: RegExp;
  /** Of the ledger: kind, tool and verdict of what the scene adds at its end. */
  readonly recorded: string;
  readonly holds?: () => boolean;
  readonly before?: () => Promise<unknown>;
}

async function tryClaudeCode(): Promise<boolean> {
  await using server = await startTestServer({
    files: { "src/a.txt": "one\n", "docs/b.txt": "two\n", ".gennai/config.yaml": 'paths:\n  deny: ["docs/**"]\n' },
    server: { announce: true },
  });
  await using home = await temporaryDirectory();
  const { root } = server.workspace;
  const governance = connectGovernance({ baseUrl: server.url, token: server.token });
  const environment = { PATH: process.env["PATH"] ?? "", HOME: home.root, GENNAI_STATE_DIR: server.stateDir };
  // Not waited for in place: the server it asks is this process.
  const gennai = async (...args: readonly string[]): Promise<string> => {
    const run = spawn(process.execPath, [cli, ...args], {
      cwd: root,
      env: environment,
      stdio: ["ignore", "pipe", "inherit"],
    });
    return text(run.stdout);
  };
  const settings = join(root, ".claude", "settings.local.json");

  const untouched = treeOf(root);
  await gennai("guard", "install", "claude-code");
  process.stdout.write(await gennai("guard", "doctor", "claude-code"));
  if (values.timings !== undefined) {
    await measure(commandIn(settings), root, environment, Number(values.timings));
    return true;
  }

  const program = values.program ?? installed();
  const at = (path: string): string => join(root, path);
  const content = (path: string): string => (existsSync(at(path)) ? readFileSync(at(path), "utf8") : "");
  const set = (control: EmergencyControl, enabled: boolean) => () =>
    governance.setEmergencyControl({ control, enabled, by: "a person", reason: "a trial" });
  const scenes: readonly Scene[] = [
    {
      name: "a command that only reads goes on",
      calls: [{ name: "Bash", arguments: { command: "ls src" } }],
      told: /a\.txt/,
      recorded: "outcome Bash allow",
    },
    {
      name: "an edit goes on, and is looked at",
      calls: [
        { name: "Read", arguments: { file_path: at("src/a.txt") } },
        { name: "Edit", arguments: { file_path: at("src/a.txt"), old_string: "one", new_string: "1" } },
      ],
      told: /updated successfully/,
      recorded: "outcome Edit allow verified src/a.txt",
      holds: () => content("src/a.txt") === "1\n",
    },
    {
      name: "a command that is not known to only read is asked about; nobody is there, so it does not run",
      calls: [{ name: "Bash", arguments: { command: "touch made" } }],
      told: /not proven to only read/,
      recorded: "outcome Bash ask passed-on",
      holds: () => !existsSync(at("made")),
    },
    {
      name: "a command that the floor refuses",
      calls: [{ name: "Bash", arguments: { command: "rm -rf ~/ src" } }],
      told: /Gennai, rule/,
      recorded: "refusal Bash deny",
      holds: () => existsSync(at("src/a.txt")),
    },
    {
      name: "an edit outside of the project's scope",
      calls: [{ name: "Write", arguments: { file_path: at("docs/new.txt"), content: "x" } }],
      told: /Gennai, rule/,
      recorded: "refusal Write deny",
      holds: () => !existsSync(at("docs/new.txt")),
    },
    {
      name: "its own hook",
      calls: [{ name: "Bash", arguments: { command: "rm .claude/settings.local.json" } }],
      told: /Gennai, rule/,
      recorded: "refusal Bash deny",
      holds: () => existsSync(settings),
    },
    {
      name: "read-only: no new file",
      before: set(EmergencyControl.READ_ONLY, true),
      calls: [{ name: "Write", arguments: { file_path: at("src/new.txt"), content: "x" } }],
      told: /emergency\/read-only/,
      recorded: "refusal Write deny",
      holds: () => !existsSync(at("src/new.txt")),
    },
    {
      name: "stop-all: not even a read",
      before: set(EmergencyControl.STOP_ALL, true),
      calls: [{ name: "Read", arguments: { file_path: at("src/a.txt") } }],
      told: /stopped by an emergency control/,
      recorded: "refusal Read deny",
    },
  ];
  let good = true;
  const say = (holds: boolean, name: string, detail = ""): void => {
    good &&= holds;
    process.stdout.write(`${holds ? "ok  " : "FAIL"}  ${name}${detail === "" ? "" : `\n        ${detail}`}\n`);
  };
  for (const scene of scenes) {
    await scene.before?.();
    const told = await play(program, scene.calls, root, environment);
    const recorded = await lastRecord(governance);
    const holds = scene.told.test(told) && recorded === scene.recorded && scene.holds?.() !== false;
    say(holds, scene.name, `told: ${told.slice(0, 160)}\n        ledger: ${recorded}`);
  }
  await set(EmergencyControl.STOP_ALL, false)();
  await set(EmergencyControl.READ_ONLY, false)();
  say((await governance.verifyLedger({})).status === "ok", "the ledger verifies");
  await gennai("guard", "uninstall", "claude-code");
  const { "src/a.txt": _, ...left } = treeOf(root);
  const { "src/a.txt": __, ...wasThere } = untouched;
  say(JSON.stringify(left) === JSON.stringify(wasThere), "uninstalled, the project is as it was, but for the edit");
  return good;
}

/** Lets the agent work on one prompt; the model makes one call after the other. @returns what it was told of the last one */
async function play(
  program: string,
  calls: Scene["calls"],
  cwd: string,
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  let asked = 0;
  await using model = await startModelServer(modelWires.anthropic, (_count, { body }) => {
    // It also asks for a title and such, without tools.
    if (!Array.isArray(body["tools"]) || body["tools"].length === 0) return { text: ["ok"] };
    const call = calls[asked];
    asked += 1;
    return call === undefined ? { text: ["Done."] } : { calls: [{ id: `toolu_${asked}`, ...call }] };
  });
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
  const lines = (await text(agent.stdout)).split("\n").filter((line) => line !== "");
  const results = lines.flatMap((line) => {
    const message = resultMessage.safeParse(JSON.parse(line));
    return message.success ? message.data.message.content.map(({ content }) => JSON.stringify(content)) : [];
  });
  return results.at(-1) ?? "nothing";
}

const resultMessage = z.object({
  type: z.literal("user"),
  message: z.object({ content: z.array(z.object({ type: z.literal("tool_result"), content: z.unknown() })) }),
});

const recordSchema = z.object({
  metadata: z.object({
    kind: z.string(),
    details: z.object({ agent: z.literal("claude-code").optional() }),
    calls: z.array(
      z.object({
        tool: z.string(),
        verdict: z.string(),
        verification: z.string().optional(),
        confirmation: z.object({ answer: z.string() }).optional(),
      }),
    ),
    changes: z.array(z.object({ path: z.string() })),
  }),
});

/** Of the agent's, in short. */
async function lastRecord(governance: ReturnType<typeof connectGovernance>): Promise<string> {
  const { records } = await governance.listLedgerRecords({ limit: 50, newest: true });
  const own = records
    .map(({ json }) => recordSchema.parse(JSON.parse(json)).metadata)
    .filter(({ details }) => details.agent !== undefined);
  const last = own.at(-1);
  const call = last?.calls[0];
  if (last === undefined || call === undefined) return "nothing";
  const { tool, verdict, verification, confirmation } = call;
  return [
    last.kind,
    tool,
    verdict,
    ...(confirmation === undefined ? [] : [confirmation.answer]),
    ...(verification === "verified" ? [verification] : []),
    ...last.changes.map(({ path }) => path),
  ].join(" ");
}

/** From the host's spawn of the hook to its answer, as a host does it: a call that is judged, and its end. */
async function measure(
  command: string,
  root: string,
  environment: Readonly<Record<string, string>>,
  count: number,
): Promise<void> {
  const took: number[] = [];
  for (let round = 0; round < count; round += 1) {
    for (const event of ["PreToolUse", "PostToolUse"]) {
      const payload = {
        session_id: "timings",
        cwd: root,
        hook_event_name: event,
        tool_name: "Bash",
        tool_use_id: `t${round}`,
        tool_input: { command: "ls src" },
      };
      const began = performance.now();
      const hook = spawn("/bin/sh", ["-c", command], {
        cwd: root,
        env: { ...environment, CLAUDE_PROJECT_DIR: root },
        stdio: ["pipe", "pipe", "inherit"],
      });
      hook.stdin.end(JSON.stringify(payload));
      const said = await text(hook.stdout);
      if (said !== "") throw new Error(said);
      took.push(performance.now() - began);
    }
  }
  took.sort((one, other) => one - other);
  const at = (part: number): string =>
    (took[Math.min(took.length - 1, Math.floor(took.length * part))] ?? 0).toFixed(0);
  process.stdout.write(`hook, ${took.length} starts: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms\n`);
}

function commandIn(settings: string): string {
  const hook = z.object({ command: z.string() });
  const groups = z.tuple([z.object({ hooks: z.tuple([hook]) })]);
  const { hooks } = z
    .object({ hooks: z.object({ PreToolUse: groups }) })
    .parse(JSON.parse(readFileSync(settings, "utf8")));
  return hooks.PreToolUse[0].hooks[0].command;
}

/** From npm, by its own ways of installing. */
function installed(): string {
  const directory = join(repository, ".cache", "real-agents", `claude-code-${version}`);
  const packaged = join(directory, "node_modules", "@anthropic-ai", "claude-code");
  const program = join(packaged, "bin", "claude.exe");
  if (existsSync(join(directory, "ready"))) return program;
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "package.json"), "{}");
  const name = `@anthropic-ai/claude-code@${version}`;
  execFileSync("npm", ["install", "--no-audit", "--no-fund", name], { cwd: directory, stdio: "inherit" });
  // npm may leave this to be approved.
  execFileSync(process.execPath, [join(packaged, "install.cjs")], { cwd: packaged, stdio: "inherit" });
  writeFileSync(join(directory, "ready"), "");
  return program;
}

/** Text of every file but git's and the ledger's, by path. */
function treeOf(root: string): Record<string, string> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name));
  const own = paths.filter((path) => !/\/\.(?:git|orchestration)\//.test(path)).toSorted();
  const directories = readdirSync(root).toSorted().join(" ");
  return Object.fromEntries([
    ["", directories.replace(/ ?\.orchestration/, "")],
    ...own.map((path) => [path.slice(root.length + 1), readFileSync(path, "utf8")] as const),
  ]);
}

if (values.help === true) process.stdout.write(help);
else process.exitCode = (await tryClaudeCode()) ? 0 : 1;
