import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { connectGovernance } from "@gennai/client/connection/connection";
import { EmergencyControl } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { builtProgram } from "@gennai/testkit/built-program";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer } from "@gennai/testkit/test-server";
import * as z from "zod";
import { readCommandLine, usageError } from "../../scripts/lib/command-line.mjs";
import { recordSchema } from "../e2e/governance/guard/guarded-records.ts";
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";
import { tryOwnRuns } from "./own-run.ts";
import { pi } from "./pi.ts";
import type { Expected, RealAgent } from "./real-agent.ts";

const realAgents: readonly RealAgent[] = [claudeCode, codex, copilot, gemini, opencode, pi];

const help = `npm run guard:real [-- [AGENT …] [OPTIONS]]    real agents from npm, guarded, against a scripted model on the loopback

Agents: ${realAgents.map(({ id, version }) => `${id} (${version})`).join(", ")}; without a name, all of them.
Installs each into .cache/real-agents, puts the hook in place in a project and a home of its own, lets the model call tools, and
compares what the agent said, what is on the disk and what the ledger has. Ends with 1 when one of them is not as it should be.

Options:
  --program FILE   one that is there already
  --own-runs       only those agents, in a run of their own (gennai guard run)
  --managed        as root: the hook is in place for all users, and this one has switched off hooks; /etc is a copy
  --timings N      only measures Claude Code's hook: N calls of it, from its start to its end
  --help           this text
`;
interface Scene extends Expected {
  readonly name: string;
  readonly holds?: () => boolean;
  readonly before?: () => Promise<unknown>;
  readonly after?: () => void;
}

const repository = fileURLToPath(new URL("../..", import.meta.url));
const cli = builtProgram(new URL("../../packages/cli/src/main.ts", import.meta.url));

const { values, positionals } = readCommandLine(help, {
  allowPositionals: true,
  options: {
    program: { type: "string" },
    timings: { type: "string" },
    "own-runs": { type: "boolean" },
    managed: { type: "boolean" },
  },
});

/** @returns whether all was as it should be */
async function tryAgent(agent: RealAgent): Promise<boolean> {
  const { managed = false } = values;
  const switchedOff = managed ? agent.hooksOff : {};
  await using home = await temporaryDirectory(switchedOff);
  // Where a hook for all users looks for the server of this one.
  const stateDir = home.path(".local/state/gennai");
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  await using server = await startTestServer({
    files: {
      "src/a.txt": "one\n",
      "docs/b.txt": "two\n",
      ".gennai/config.yaml": 'paths:\n  deny: ["docs/**"]\n',
      ...switchedOff,
    },
    server: { announce: true, stateDir },
  });
  const { root } = server.workspace;
  const { governance } = server;
  const environment = { PATH: process.env["PATH"] ?? "", HOME: home.root, GENNAI_STATE_DIR: stateDir };
  // Not waited for in place: the server it asks is this process.
  const gennai = async (...args: readonly string[]): Promise<string> => {
    const run = spawn(process.execPath, [cli, ...args], {
      cwd: root,
      env: environment,
      stdio: ["ignore", "pipe", "inherit"],
    });
    return text(run.stdout);
  };
  const settings = join(root, agent.settings);

  const untouched = treeOf(root);
  const place = managed ? ["--managed"] : [];
  await gennai("guard", "install", agent.id, ...place);
  const hooked = readFileSync(settings, "utf8");
  const doctor = await gennai("guard", "doctor", agent.id);
  process.stdout.write(doctor);
  if (values.timings !== undefined) {
    await measure(commandIn(settings), root, environment, Number(values.timings));
    return true;
  }

  const program = values.program ?? agent.program(join(repository, ".cache", "real-agents"));
  const at = (path: string): string => join(root, path);
  const content = (path: string): string => (existsSync(at(path)) ? readFileSync(at(path), "utf8") : "");
  const set = (control: EmergencyControl, enabled: boolean) => () =>
    governance.setEmergencyControl({ control, enabled, by: "a person", reason: "a trial" });
  const scenes: readonly Scene[] = [
    { name: "a command that only reads goes on", ...agent.calls.reads(root) },
    {
      name: "an edit goes on, and is looked at",
      ...agent.calls.edits(root),
      holds: () => content("src/a.txt") === "1\n",
    },
    ...(agent.calls.fails === undefined
      ? []
      : [{ name: "an edit that fails, which it says", ...agent.calls.fails(root) }]),
    ...(agent.calls.agrees === undefined
      ? []
      : [
          {
            name: "a command that is not known to only read, and its user says yes",
            ...agent.calls.agrees(root),
            holds: () => existsSync(at("agreed")),
          },
        ]),
    {
      name: "a command that is not known to only read; nobody says yes, so it does not run",
      ...agent.calls.asks(root),
      holds: () => !existsSync(at("made")),
    },
    {
      name: "a command that the floor refuses",
      ...agent.calls.destroys(root),
      holds: () => existsSync(at("src/a.txt")),
    },
    {
      name: "an edit outside of the project's scope",
      ...agent.calls.leavesScope(root),
      holds: () => !existsSync(at("docs/new.txt")),
    },
    ...(agent.calls.waits === undefined
      ? []
      : [
          {
            name: "its settings are emptied while it runs: its hook stays",
            ...agent.calls.waits(root),
            // Claude Code looks at its files once a second or so.
            before: async () => void setTimeout(() => writeFileSync(settings, "{}"), 8_000),
            after: () => writeFileSync(settings, hooked),
            holds: () => !existsSync(at("docs/new.txt")),
          },
        ]),
    { name: "its own hook", ...agent.calls.unhooks(root), holds: () => existsSync(settings) },
    {
      name: "no server: nothing new, and the way out is said",
      before: async () => renameSync(join(stateDir, "servers"), join(stateDir, "gone")),
      after: () => renameSync(join(stateDir, "gone"), join(stateDir, "servers")),
      ...agent.calls.leavesScope(root),
      told: /gennai serve/,
      recorded: agent.calls.unhooks(root).recorded,
      holds: () => !existsSync(at("docs/new.txt")),
    },
    {
      name: "read-only: no new file",
      before: set(EmergencyControl.READ_ONLY, true),
      ...agent.calls.creates(root),
      holds: () => !existsSync(at("src/new.txt")),
    },
    { name: "stop-all: not even a read", before: set(EmergencyControl.STOP_ALL, true), ...agent.calls.looks(root) },
  ];
  let good = true;
  const say = (holds: boolean, name: string, detail = ""): void => {
    good &&= holds;
    process.stdout.write(`${holds ? "ok  " : "FAIL"}  ${name}${detail === "" ? "" : `\n        ${detail}`}\n`);
  };
  say(!/^fail/m.test(doctor), "doctor finds nothing amiss");
  for (const scene of scenes) {
    await scene.before?.();
    const { told, said } = await agent.play(program, scene.calls, root, environment, {
      agrees: scene.agrees === true,
      managed,
    });
    scene.after?.();
    const recorded = await lastRecord(governance);
    const isSaid = scene.told.test(told) && (scene.said ?? /./).test(said);
    const holds = isSaid && recorded === scene.recorded && scene.holds?.() !== false;
    say(holds, scene.name, `told: ${told.slice(0, 160)}\n        ledger: ${recorded}`);
    if (!isSaid) process.stdout.write(`        said: ${said.slice(-2000)}\n`);
  }
  await set(EmergencyControl.STOP_ALL, false)();
  await set(EmergencyControl.READ_ONLY, false)();
  say((await governance.verifyLedger({})).status === "ok", "the ledger verifies");
  await gennai("guard", "uninstall", agent.id, ...place);
  // Its turns, the newest first, in each of its sessions.
  const { sessions } = await server.client.listSessions({});
  for (const { sessionId } of sessions) {
    const undo = () =>
      server.client.undoChangeSet({ sessionId }).then(
        () => true,
        () => false,
      );
    for (let isDone = false; !isDone; ) isDone = !(await undo());
  }
  const isOwn = (path: string): boolean => agent.leaves?.test(path) === true;
  const others = (tree: Readonly<Record<string, string>>) => Object.entries(tree).filter(([path]) => !isOwn(path));
  const [left, wasThere] = [others(treeOf(root)), others(untouched)];
  say(JSON.stringify(left) === JSON.stringify(wasThere), "uninstalled and undone, the project is as it was");
  return good;
}

async function inRunsOfItsOwn(agent: RealAgent): Promise<boolean> {
  const program = values.program ?? agent.program(join(repository, ".cache", "real-agents"));
  let good = true;
  for (const { holds, name, detail } of await tryOwnRuns(agent, { program, cli })) {
    good &&= holds;
    process.stdout.write(`${holds ? "ok  " : "FAIL"}  ${name}\n        ${detail}\n`);
  }
  return good;
}

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
    ...(verification === "verified" || verification === "failed" ? [verification] : []),
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

/** Text of every file but git's and the ledger's, by path. */
function treeOf(root: string): Record<string, string> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name));
  const own = paths.filter((path) => !/\/\.(?:git|orchestration)\//.test(path)).toSorted();
  return Object.fromEntries(own.map((path) => [path.slice(root.length + 1), readFileSync(path, "utf8")] as const));
}

/** Whether the hooks for all users have a copy of /etc to stand in: else this program is started again in a mount namespace with one. */
function hasOwnEtc(): boolean {
  if (values.managed !== true || process.env["GENNAI_OWN_ETC"] !== undefined) return true;
  const copy =
    'd=$(mktemp -d) && mount -t tmpfs gennai "$d" && mkdir "$d/up" "$d/work" && mount -t overlay gennai -o "lowerdir=/etc,upperdir=$d/up,workdir=$d/work" /etc';
  const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const { status } = spawnSync("unshare", ["--mount", "sh", "-c", `${copy} && exec "$@"`, "sh", ...again], {
    env: { ...process.env, GENNAI_OWN_ETC: "1" },
    stdio: "inherit",
  });
  process.exitCode = status ?? 1;
  return false;
}

const chosen = realAgents.filter(({ id, hooksOff }) =>
  positionals.length === 0 ? values.managed !== true || hooksOff !== undefined : positionals.includes(id),
);
if (chosen.length === 0) usageError(`There is no agent ${positionals.join(", ")}.`, help);
let good = true;
for (const agent of !hasOwnEtc() ? [] : values.timings === undefined ? chosen : [claudeCode]) {
  process.stdout.write(`\n${agent.id} ${agent.version}\n`);
  if (values["own-runs"] !== true) good = (await tryAgent(agent)) && good;
  if (values.timings === undefined && values.managed !== true) good = (await inRunsOfItsOwn(agent)) && good;
}
process.exitCode ??= good ? 0 : 1;
