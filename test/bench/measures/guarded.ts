import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import * as z from "zod";
import type { BenchWorld } from "../bench-world.ts";
import { GennaiServer, gennaiProcess } from "../gennai-server.ts";
import type { Reading } from "../table/reading.ts";
import { median, percentile } from "../table/statistics.ts";

/** How long another agent waits for its hook, from its start to its end, against a shell that does nothing. */
export async function measureGuarded(world: BenchWorld): Promise<readonly Reading[]> {
  const workspace = world.workspace();
  const stateDirectory = world.directory();
  await using _server = await GennaiServer.start({ workspace, stateDirectory });
  await using install = gennaiProcess(["guard", "install", "claude-code", "--workspace", workspace], stateDirectory);
  await install.ended();
  const command = hookCommand(join(workspace, ".claude/settings.local.json"));
  // With this, nothing but Node is started: what is left where there is no Perl.
  const withNode = command.replace(/'[^']*\/perl' '[^']*\/relay' /, "");
  const times = { floor: [] as number[], before: [] as number[], after: [] as number[], node: [] as number[] };
  for (let round = 0; round <= world.choose(300, 60); round += 1) {
    const call = { session_id: "bench", cwd: workspace, tool_name: "Bash", tool_input: { command: "ls" } };
    const told = (hook_event_name: string, id: string) =>
      JSON.stringify({ ...call, hook_event_name, tool_use_id: `${id}${round}` });
    const floor = await timed("true", workspace, "");
    const before = await timed(command, workspace, told("PreToolUse", "t"));
    const after = await timed(command, workspace, told("PostToolUse", "t"));
    const node = round % 6 === 0 ? await timed(withNode, workspace, told("PreToolUse", "n")) : undefined;
    // The first round begins the session.
    if (round === 0) continue;
    times.floor.push(floor);
    times.before.push(before);
    times.after.push(after);
    if (node !== undefined) times.node.push(node);
  }
  const floor = median(times.floor);
  return [
    {
      name: "guarded call, its hook before it, p50 (floor: sh -c true)",
      unit: "ms",
      floor,
      figure: median(times.before),
      target: { type: "most", value: 15 },
    },
    {
      name: "the same, p99",
      unit: "ms",
      floor: percentile(times.floor, 0.99),
      figure: percentile(times.before, 0.99),
      target: { type: "most", value: 60 },
    },
    {
      name: "the hook after it, p50",
      unit: "ms",
      floor,
      figure: median(times.after),
      target: { type: "most", value: 15 },
    },
    {
      name: "the hook before it by Node alone, p50",
      unit: "ms",
      floor,
      figure: median(times.node),
      target: { type: "most", value: 150 },
    },
  ];
}

function hookCommand(settings: string): string {
  const group = z.object({ hooks: z.tuple([z.object({ command: z.string() })]) });
  const schema = z.object({ hooks: z.object({ PreToolUse: z.tuple([group]) }) });
  return schema.parse(JSON.parse(readFileSync(settings, "utf8"))).hooks.PreToolUse[0].hooks[0].command;
}

/** Milliseconds. Rejects where the hook says something: nothing speaks against these calls. */
async function timed(command: string, cwd: string, input: string): Promise<number> {
  const start = performance.now();
  const hook = spawn("/bin/sh", ["-c", command], { cwd, stdio: ["pipe", "pipe", "inherit"] });
  hook.stdin.on("error", () => undefined);
  hook.stdin.end(input);
  const said = await text(hook.stdout);
  const took = performance.now() - start;
  if (said !== "") throw new Error(said);
  return took;
}
