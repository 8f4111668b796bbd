import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { builtProgram } from "@gennai/testkit/built-program";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { readCommandLine } from "../../scripts/lib/command-line.mjs";
import { agentArguments, files, type Scene, scenes, turns } from "./acpx-scenes.ts";

readCommandLine(
  `npm run acp:real   acpx from npm drives gennai acp through the scenes; its messages are recorded for acpx.test.ts

Installs acpx into .cache/real-agents. Ends with 1 when a scene leaves another file than it should.
`,
  {},
);

const version = "0.19.1";
const cache = fileURLToPath(new URL("../../.cache/real-agents/acpx", import.meta.url));
const cli = builtProgram(import.meta.resolve("@gennai/cli/main"));

/** Milliseconds of one run of acpx. */
const patience = 120_000;

function installed(): string {
  const program = join(cache, "node_modules/acpx/dist/cli.js");
  if (!existsSync(program)) {
    mkdirSync(cache, { recursive: true });
    const arguments_ = ["install", "--prefix", cache, "--ignore-scripts", "--no-save", `acpx@${version}`];
    execFileSync("npm", arguments_, { stdio: ["ignore", 2, 2] });
  }
  return program;
}

const program = installed();
await using state = await temporaryDirectory();
await using repository = await temporaryRepository(files);
const script = state.path("script.yaml");
writeFileSync(script, JSON.stringify({ turns }));
const environment = { PATH: process.env["PATH"] ?? "", HOME: state.root, GENNAI_STATE_DIR: state.path("state") };
const agent = [process.execPath, ...agentArguments(cli, script)].join(" ");

function acpx(...arguments_: readonly string[]) {
  // Who keeps a session open ends a second after its last prompt.
  const own = ["--cwd", repository.root, "--agent", agent, "--format", "json", "--json-strict", "--ttl", "1"];
  const child = spawn(process.execPath, [program, ...own, ...arguments_], {
    cwd: repository.root,
    env: environment,
    stdio: ["ignore", "pipe", "inherit"],
    signal: AbortSignal.timeout(patience),
  });
  let printed = "";
  child.stdout.on("data", (chunk) => (printed += String(chunk)));
  return { output: () => printed, ended: text(child.stdout) };
}

async function play({ prompt, permissions, once, cancelAfter }: Scene): Promise<string> {
  const run = acpx(permissions, once === true ? "exec" : "prompt", prompt);
  if (cancelAfter !== undefined) {
    while (!run.output().includes(`${cancelAfter}\\n`)) await wait(50);
    await acpx("cancel").ended;
  }
  const output = await run.ended;
  // The session's keeper goes, so that the next run opens the session again.
  await wait(3_000);
  return output;
}

/** Without what differs from run to run or says nothing of the work. */
function readable(lines: string): string {
  const noise = /"(?:available_commands_update|usage_update|session_info_update|config_option_update)"/;
  return lines
    .replaceAll(repository.root, "/repository")
    .replaceAll(/"(sessionId|messageId)":"[^"]*"/g, '"$1":"…"')
    .replaceAll(/"configOptions":\[.*?\]\}\]/g, '"configOptions":[]')
    .split("\n")
    .filter((line) => line.startsWith('{"jsonrpc"') && !noise.test(line))
    .map((line) => `${line}\n`)
    .join("");
}

await acpx("sessions", "new").ended;
await wait(3_000);
let failed = false;
for (const scene of scenes) {
  const lines = await play(scene);
  const left = await readFile(repository.path("a.txt"), "utf8").catch(() => undefined);
  const isRight = left === scene.left && lines.includes('"stopReason"');
  failed ||= !isRight;
  process.stdout.write(`${isRight ? "ok  " : "BAD "} ${scene.name}: a.txt ${left ?? "is gone"}\n`);
  if (isRight) writeFileSync(new URL(`recorded/${scene.name}.jsonl`, import.meta.url), readable(lines));
}
process.exitCode = failed ? 1 : 0;
