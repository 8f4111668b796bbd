import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Gate, GateContext } from "./gate.ts";
import { type InstalledCommandLine, installCommandLine } from "./installed-command-line.ts";
import { runProgram } from "./run-program.ts";
import { sampleRepository } from "./sample-repository.ts";
import { startRatio } from "./start-ratio.ts";
import { Steps } from "./steps.ts";

/** Installs the packed command line where nothing is, and does a whole job with it. */
export const smokeGate: Gate = {
  name: "smoke",
  title: "The packed command line installs with an empty home, works, blames, takes back, and its ledger verifies.",
  timeoutMs: 30 * 60_000,
  async run(context, { signal }) {
    const steps = new Steps(context.doing);
    const gennai = await installCommandLine(context, { signal });
    steps.note(gennai.output);
    const node = await runProgram("node", ["--version"], { cwd: context.scratch, env: gennai.env, signal });
    await steps.check(`installs with npm, on Node ${node.output.trim()}`, () => "");
    await steps.check("says its version", async () => {
      const said = (await gennai.must("--version")).trim();
      if (said !== context.version) throw new Error(`It says ${said}, and this is ${context.version}.`);
      return said;
    });
    await steps.check("time to start", () => startRatio(gennai.env, join(context.scratch, "prefix", "bin", "gennai")));
    await wholeJob(steps, gennai, { context, signal });
    return steps.findings();
  },
};

const task = "replace colour with color in src/**/*.js";

async function wholeJob(
  steps: Steps,
  gennai: InstalledCommandLine,
  { context, signal }: { readonly context: GateContext; readonly signal: AbortSignal },
): Promise<void> {
  const workspace = await sampleRepository(join(context.scratch, "workspace"), { env: gennai.env, signal });
  const count = () => colours(join(workspace, "src"), gennai.env, signal);
  const before = await count();
  const place = ["--workspace", workspace];
  await using server = await gennai.serve([...place, "--backend", "offline"]);
  await steps.check("serves the page", async () => {
    const page = await fetch(server.url, { signal });
    const script = await fetch(new URL("/assets/repl.js", server.url), { signal });
    const bytes = (await script.arrayBuffer()).byteLength;
    if (!page.ok || !script.ok || bytes < 50_000) throw new Error(`${page.status}, ${script.status}, ${bytes} bytes`);
    return `${server.url}, repl.js of ${bytes} bytes`;
  });
  await steps.check("does a job", async () => {
    steps.note(await gennai.must("run", task, ...place, "--yes"));
    const after = await count();
    if (before === 0 || after !== 0) throw new Error(`"colour" was there ${before} times, and is ${after} times.`);
    return `"${task}": ${before} places changed`;
  });
  await steps.check("blame names the call", async () => {
    const said = await gennai.must("blame", "src/main.js", ...place);
    const [call] = /agent offline\S* in session .*/.exec(said) ?? [];
    if (call === undefined) throw new Error(said);
    return call;
  });
  const ledger = async () => (await gennai.must("ledger", "verify", ...place)).trim().split("\n").at(-1) ?? "";
  await steps.check("its ledger verifies", ledger);
  await steps.check("takes it back", async () => {
    steps.note(await gennai.must("undo", ...place));
    const after = await count();
    if (after !== before) throw new Error(`"colour" was there ${before} times, and is ${after} times.`);
    return `${after} places as they were`;
  });
  await steps.check("its ledger verifies after that", ledger);
  await steps.check("sees a changed ledger", async () => {
    const file = join(workspace, ".orchestration", "agent_trace.jsonl");
    const copy = join(context.scratch, "changed");
    cpSync(workspace, copy, { recursive: true });
    const text = readFileSync(file, "utf8").replace("colour", "colours");
    writeFileSync(join(copy, ".orchestration", "agent_trace.jsonl"), text);
    const { code } = await gennai.run(["ledger", "verify", "--workspace", copy]);
    if (code === 0) throw new Error("It says that a changed ledger is sound.");
    return `exit code ${code}`;
  });
  await steps.check("ends in order", async () => {
    const code = await server.stop();
    if (code !== 0) throw new Error(`It ended with ${code}.`);
    return "exit code 0";
  });
}

/** Number of occurrences of "colour" in the sources. */
async function colours(directory: string, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<number> {
  const { output } = await runProgram("grep", ["-ro", "colour", "--include=*.js", "."], {
    cwd: directory,
    env,
    signal,
  });
  return output.split("\n").filter((line) => line !== "").length;
}
