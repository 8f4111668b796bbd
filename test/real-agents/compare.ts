import { spawn } from "node:child_process";
import { homedir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { readCommandLine, usageError } from "../../scripts/lib/command-line.mjs";
import { type ComparedAgent, comparedAgents, versionOf } from "./compared-agents.ts";
import { cleanEnvironment, comparedCommands, tryCommand } from "./compared-commands.ts";
import { type Row, writeRows } from "./comparison-table.ts";
import { sentTokens } from "./sent-tokens.ts";

const help = `npm run compare [-- AGENT …]    what a command does when nobody is asked: writes the rows of docs/comparison.md

Agents: ${comparedAgents.map(({ id }) => id).join(", ")}; without a name, all of them.
Installs each from npm into .cache/real-agents, and starts it as a script does for the first time, in a new project and home with secrets of
its own. A model on the loopback orders six commands. Files, requests and connections are looked at afterwards. The agents run
in bubblewrap: read-only, without a network, without your home.

Options:
  --tokens         prints instead what each sends for a prompt with 100 calls, and how much of it a provider has in its cache
  --help           this text
`;
const repository = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const installed = join(repository, ".cache", "real-agents");
/** Set inside the sandbox. */
const inside = "GENNAI_COMPARED";

const { values, positionals } = readCommandLine(help, {
  allowPositionals: true,
  options: { tokens: { type: "boolean" } },
});
const chosen = comparedAgents.filter(({ id }) => positionals.length === 0 || positionals.includes(id));
const unknown = positionals.filter((id) => !comparedAgents.some((agent) => agent.id === id));
if (unknown.length > 0) usageError(`There is no agent ${unknown.join(", ")}.`, help);

if (process.env[inside] === undefined) {
  for (const agent of chosen) agent.program(installed);
  const rows: Row[] = [];
  for (const { id } of chosen) {
    const line = await inSandbox(id);
    if (line === "") process.exitCode = 1;
    else if (values.tokens === true) process.stdout.write(`${id} ${line}\n`);
    else rows.push(JSON.parse(line));
  }
  const order = comparedAgents.map(({ id }) => id);
  if (rows.length > 0) writeRows(rows, order);
} else {
  for (const agent of chosen) {
    const found = values.tokens === true ? await sentTokens(agent, agent.program(installed)) : await rowOf(agent);
    process.stdout.write(`${JSON.stringify(found)}\n`);
  }
}

async function rowOf(agent: ComparedAgent): Promise<Row> {
  const program = agent.program(installed);
  await using home = await temporaryDirectory();
  const version = versionOf(program, cleanEnvironment(home.root));
  const effects: Record<string, Row["effects"][string]> = {};
  for (const [name, command] of Object.entries(comparedCommands)) {
    effects[name] = await tryCommand(agent, program, command);
    process.stderr.write(`${agent.id} ${version}: ${name}: ${effects[name]}\n`);
  }
  return { id: agent.id, name: agent.name, version, tried: new Date().toISOString().slice(0, 10), effects };
}

/** This program again, for one agent; its row as JSON, empty where it failed. */
async function inSandbox(id: string): Promise<string> {
  const home = homedir();
  // The machine's /proc: below one whose parts are covered, an agent's own sandbox could mount none.
  const mounts = [
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--dev-bind", "/proc", "/proc", "--tmpfs", "/tmp", "--tmpfs"],
    home,
  ];
  const own = [repository, process.execPath].flatMap((path) =>
    path.startsWith(`${home}/`) ? ["--ro-bind", path, path] : [],
  );
  const apart = ["--unshare-net", "--unshare-ipc", "--die-with-parent", "--new-session"];
  const again = [process.execPath, fileURLToPath(import.meta.url), id, ...(values.tokens === true ? ["--tokens"] : [])];
  const run = spawn("bwrap", [...mounts, ...own, ...apart, "--chdir", repository, "--", ...again], {
    // Places are not where temporary files are: there, Codex starts no sandbox.
    env: { ...cleanEnvironment(home), TMPDIR: home, [inside]: "1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return (await text(run.stdout)).trim();
}
