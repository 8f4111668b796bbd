import { deepEqual, equal, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeTransaction } from "#stage/transaction";
import type { Scenarios } from "./run-scenarios.ts";
import { StageFixture } from "./stage-fixture.ts";

const files = { "a.txt": "a\n", "src/b.txt": "b\n", "src/deep/c.txt": "c\n" };
const fill = (directory: string): string => `for i in $(seq 12); do echo $i > ${directory}/$i; done`;

/** What holds of copies alone. */
export const scenarios: Scenarios = {
  "leaves a pipe of the user's where it is, whatever happens to its directory": async () => {
    await using fixture = new StageFixture(files);
    execFileSync("/usr/bin/mkfifo", [join(fixture.root, "src/pipe"), join(fixture.root, "src/deep/pipe")]);
    await fixture.keep(`rm -r src; mkdir src; ${fill("src")}`);
    for (const path of ["src/pipe", "src/deep/pipe"]) ok(lstatSync(join(fixture.root, path)).isFIFO());
    equal(fixture.read("src/7"), "7\n");
    deepEqual(readdirSync(join(fixture.root, "src/deep")), ["pipe"]);
  },
  "drops devices, however they came to where they are": async () => {
    await using fixture = new StageFixture(files);
    const command =
      "mknod w c 0 0; mkdir -p n/m; mv w n/m/w; echo x > n/x; mknod v c 0 0; mv v a.txt; mkfifo n/m/p; mv src/deep/c.txt n/m/; mknod src/deep/c.txt c 0 0; chmod 0 n/m";
    const { observation, run, transaction } = await fixture.stage(command);
    equal(run.exitCode, 0, run.output);
    deepEqual(
      observation.effects.map(({ path, change }) => `${change} ${path}`),
      ["deleted a.txt", "created n", "created n/m", "created n/m/c.txt", "created n/x", "deleted src/deep/c.txt"],
    );
    deepEqual(observation.dropped.map(({ path }) => path).toSorted(), ["a.txt", "n/m/p", "n/m/w", "src/deep/c.txt"]);
    await removeTransaction(transaction);
    await fixture.keep(command);
    chmodSync(join(fixture.root, "n/m"), 0o700);
    deepEqual(readdirSync(join(fixture.root, "n/m")), ["c.txt"]);
  },
  "looks into directories that a command closed": async () => {
    await using fixture = new StageFixture(files);
    deepEqual(await fixture.effects("rm src/b.txt src/deep/c.txt; mv a.txt src/deep/; chmod 0 src/deep src"), {
      "a.txt": "deleted",
      src: "changed",
      "src/b.txt": "deleted",
      "src/deep": "changed",
      "src/deep/a.txt": "created",
      "src/deep/c.txt": "deleted",
    });
  },
  "leaves alone what the user closed": async () => {
    await using fixture = new StageFixture(files);
    chmodSync(join(fixture.root, "src/deep"), process.getuid?.() === 0 ? 0 : 0o600);
    await fixture.keep("rm -rf src; echo more >> a.txt", {
      which: ({ flags }) => !flags.includes("hidden"),
    });
    equal(fixture.read("a.txt"), "a\nmore\n");
    // Root can look into it.
    if (process.getuid?.() === 0) return;
    chmodSync(join(fixture.root, "src/deep"), 0o700);
    equal(fixture.read("src/deep/c.txt"), "c\n");
  },
  "tells git by sizes and times what is as it was": async () => {
    await using fixture = new StageFixture(files);
    fixture.git("init", "-q");
    fixture.git("add", "-A");
    fixture.git("commit", "-qm", "first");
    const { run, transaction } = await fixture.stage(
      "git diff-files --name-only; echo more >> a.txt; git diff-files --name-only",
    );
    equal(run.output, "a.txt\n");
    await removeTransaction(transaction);
  },
  "goes on when something vanishes while it is copied": async () => {
    await using fixture = new StageFixture(
      Object.fromEntries(Array.from({ length: 1200 }, (_, index) => [`d${index % 40}/f${index}`, "x"])),
    );
    const roots = await fixture.covered();
    const gone = Array.from({ length: 40 }, (_, index) => `d${index}`).toReversed();
    const removing = setInterval(() => {
      const next = gone.pop();
      if (next !== undefined) rmSync(join(fixture.root, next), { recursive: true });
      mkdirSync(join(fixture.root, `new${gone.length}`), { recursive: true });
      writeFileSync(join(fixture.root, `new${gone.length}`, "f"), "new");
    }, 1);
    const stage = await fixture.stageOver(roots).finally(() => clearInterval(removing));
    ok(gone.length < 40, "nothing went meanwhile");
    const observation = await stage.observe();
    deepEqual(observation.effects, []);
    await stage.close();
    await removeTransaction(stage.transaction);
  },
};
