import { expect, test } from "vitest";
import { ReplicaWorld } from "../e2e/replicas/replica-world.ts";
import { type LoadReport, loadScript, runLoad } from "./load.ts";

/** `GENNAI_SCALE_SESSIONS=200 GENNAI_SCALE_TURNS=3 npm test -- test/scale/replicas-load.long` is the full run. */
const wanted = { sessions: process.env["GENNAI_SCALE_SESSIONS"], turns: process.env["GENNAI_SCALE_TURNS"] };
/** With time between the turns, their length says what a turn costs; without, how long the queue is. */
const spreadMs = Number(process.env["GENNAI_SCALE_SPREAD_MS"] ?? "0");
const killEveryMs = Number(process.env["GENNAI_SCALE_KILL_MS"] ?? "4000");

interface Load {
  readonly sessions: number;
  readonly turns: number;
}

export function testKilledUnderLoad(usual: Load): void {
  const { sessions, turns } = loadOf(usual);
  test(`three replicas, three nodes, killed at random under ${sessions} sessions of ${turns} turns: every turn ends, nothing is lost or done twice`, async () => {
    await using world = await ReplicaWorld.start({ replicas: 3, nodes: 3, script: loadScript });
    const report = await runLoad(world, { replicas: 3, sessions, turns, killEveryMs, spreadMs });
    show("killed at random", report);
    if (report.faults.length > 0) process.stderr.write(world.output);
    expect(report).toMatchObject({ unfinished: 0, faults: [] });
    expect(report.completed + report.brokenOff).toBe(report.turns);
    expect(report.turns).toBeGreaterThanOrEqual(sessions * turns);
    // Kills that hit nothing, or turns that do nothing, would find no fault either.
    expect(Math.min(report.replicaKills, report.nodeKills)).toBeGreaterThanOrEqual(1);
    expect(report.completed).toBeGreaterThanOrEqual(1);
    expect(report.commandsRun).toBeGreaterThanOrEqual(report.completed);
  });
}

export function testLeftAlone(usual: Load): void {
  const { sessions, turns } = loadOf(usual);
  test.each([
    ["three replicas, three nodes", 3, 3],
    ["one process on SQLite", 1, 0],
  ])(
    `%s, left alone under ${sessions} sessions of ${turns} turns: every turn completes`,
    async (name, replicas, nodes) => {
      await using world = await ReplicaWorld.start({ replicas, nodes, script: loadScript });
      const report = await runLoad(world, { replicas, sessions, turns, spreadMs });
      show(name, report);
      expect(report).toMatchObject({ completed: sessions * turns, commandsRun: sessions * turns, faults: [] });
    },
  );
}

function loadOf(usual: Load): Load {
  return { sessions: Number(wanted.sessions ?? usual.sessions), turns: Number(wanted.turns ?? usual.turns) };
}

function show(name: string, report: LoadReport): void {
  process.stdout.write(`${name}: ${JSON.stringify(report)}\n`);
}
