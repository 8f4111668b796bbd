import { deepEqual, equal, ok } from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { builtProgram } from "@gennai/testkit/built-program";
import { SeededRandom } from "@gennai/testkit/seeded-random";
import { recoverCommits } from "#commit/recover-commits";
import { forgetCommit } from "#commit/undo-commit";
import { roundsOf } from "../rounds.ts";
import type { Scenarios } from "../run-scenarios.ts";
import { untilNobodySeesBelow } from "../sees-below.ts";
import { StageFixture } from "../stage-fixture.ts";

const rounds = roundsOf({ few: 4, many: 20 });
const seed = 20_261_122;

/** Many names of every kind, and a git commit. */
const command = [
  "for i in $(seq 20); do echo more >> src/$i.txt; done; rm -r old; rm src/30.txt; mkdir -p new/deep; echo 1 > new/deep/one",
  "mv src/31.txt new/; chmod 755 src/32.txt; rm src/33.txt; ln -s 1.txt src/33.txt; rm -r turned; echo file > turned",
  "git add -A && git commit -qm second",
].join("\n");

const files = Object.fromEntries([
  ...Array.from({ length: 40 }, (_, index) => [`src/${index + 1}.txt`, `${index}\n`]),
  ...["old/a", "old/b/c", "turned/d"].map((path) => [path, `${path}\n`]),
]);

export const scenarios: Scenarios = {
  "survives being killed at any instant": async () => {
    await using template = new StageFixture(files);
    for (const args of [
      ["init", "-q", "-b", "main"],
      ["add", "-A"],
      ["commit", "-qm", "first"],
    ])
      template.git(...args);
    const before = stateOf(template);
    const after = await afterState(template);
    const random = new SeededRandom(seed);
    const counts = { commits: 0, undone: 0, runs: 0, inside: 0 };
    /** Milliseconds from the journal to the end, as far as is known. */
    let inside = 20;
    for (let round = 0; round < rounds; round += 1) {
      await using fixture = copyOf(template);
      const dice = random.next();
      const what = dice < 0.15 ? "run" : dice < 0.4 ? "undo" : "commit";
      // Most of the kills come when something is being moved, some at any time.
      const isAimed = what !== "run" && random.chance(0.8);
      const kill = await killWithin(fixture, what, { isAimed, afterMs: random.next() * (isAimed ? inside : 150) });
      await untilNobodySeesBelow(fixture.base);
      const phases = phasesIn(fixture);
      const recovered = await recoverCommits(fixture.stateDir);
      // Later, if it had not moved anything yet: how long that takes depends on the disk.
      const isTooSoon = recovered.some(({ state }) => state === "removed") || phases.length === 0;
      if (isAimed) inside = Math.max(2, inside * (kill.hadEnded ? 0.7 : isTooSoon ? 1.7 : 1.1));
      const about = `round ${round} (${what}): ${JSON.stringify({ phases, recovered, kill })}`;
      ok(
        recovered.every(({ state }) => state !== "stuck"),
        about,
      );
      if (recovered.some(({ state }) => state === "finished" || state === "taken_back")) counts.inside += 1;
      counts[what === "run" ? "runs" : what === "undo" ? "undone" : "commits"] += 1;
      const now = stateOf(fixture);
      const isAfter = now.head !== before.head;
      deepEqual(now, isAfter ? after : before, about);
      for (const { id, state } of recovered) {
        equal(state === "finished" || state === "kept", isAfter, about);
        if (state === "finished" || state === "kept") await forgetCommit(fixture.stateDir, id);
      }
      deepEqual(stagesOf(fixture), [], about);
      deepEqual(readdirSync(fixture.base).toSorted(), ["empty", "home", "state", "tmp", "workspace"], about);
    }
    console.error(JSON.stringify(counts));
    ok(
      counts.inside >= Math.floor(rounds / 10),
      `too few kills fell inside of a commit or an undo: ${JSON.stringify(counts)}`,
    );
  },
};

/** Runs the program and kills it some milliseconds after it began with its work, or after the journal of that is written. */
async function killWithin(
  fixture: StageFixture,
  what: string,
  { isAimed, afterMs }: { readonly isAimed: boolean; readonly afterMs: number },
): Promise<{ readonly hadEnded: boolean }> {
  const program = builtProgram(new URL("committing-program.ts", import.meta.url));
  const child = spawn(process.execPath, [program, fixture.base, what, command], { stdio: ["pipe", "pipe", "inherit"] });
  let said = "";
  const begun = Promise.withResolvers<void>();
  child.stdout.on("data", (chunk) => {
    said += String(chunk);
    if (said.includes("begin")) begun.resolve();
  });
  child.once("exit", (code) => begun.reject(new Error(`It ended with ${code} before it began.`)));
  await begun.promise;
  // Timers are too coarse for this.
  while (isAimed && !said.includes("end") && !phasesIn(fixture).includes(what === "undo" ? "undoing" : "committing")) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  const until = performance.now() + afterMs;
  while (performance.now() < until) await new Promise((resolve) => setImmediate(resolve));
  child.kill("SIGKILL");
  await exited(child);
  return { hadEnded: said.includes("end\n") };
}

async function exited(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

/** Waits until no process has a mount of this workspace's stages. */
function phasesIn(fixture: StageFixture): readonly string[] {
  return stagesOf(fixture).flatMap((id) => {
    const names = ["committing", "undoing", "committed"] as const;
    return names.filter((phase) => existsSync(join(fixture.stateDir, "stages", id, `${phase}.json`)));
  });
}

function stagesOf(fixture: StageFixture): readonly string[] {
  const stages = join(fixture.stateDir, "stages");
  return existsSync(stages) ? readdirSync(stages) : [];
}

function stateOf(fixture: StageFixture) {
  const all = fixture.tree();
  const tree = Object.entries(all).filter(([path]) => !path.startsWith(".git"));
  const locks = Object.keys(all).filter((path) => path.endsWith(".lock"));
  const [head, ...changes] = fixture.git("status", "--porcelain=v2", "--branch").split("\n");
  return { head, changes, locks, tree };
}

/** What the command makes of the tree. */
async function afterState(template: StageFixture): Promise<ReturnType<typeof stateOf>> {
  await using fixture = copyOf(template);
  await fixture.keep(command);
  return stateOf(fixture);
}

function copyOf(template: StageFixture): StageFixture {
  const fixture = new StageFixture();
  execFileSync("/bin/cp", ["-a", `${template.root}/.`, fixture.root]);
  return fixture;
}
