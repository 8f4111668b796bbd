import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { forgetCommit } from "#commit/undo-commit";
import { MountsAhead } from "#mount/mounts-ahead";
import { removeTransaction } from "#transaction/transaction";
import type { Scenarios } from "../run-scenarios.ts";
import { seesBelow, untilNobodySeesBelow } from "../sees-below.ts";
import { StageFixture } from "../stage-fixture.ts";

const files = {
  "a.txt": "a\n",
  "src/b.txt": "b\n",
  "src/deep/c.txt": "c\n",
  "old/d.txt": "d\n",
  "deploy/key.pem": "SECRET\n",
  "deploy/run.txt": "run\n",
};

/** Every entry but the hidden one, with its mode, and the bytes of files. */
const list =
  "find . -mindepth 1 ! -name '*.pem' -printf '%p %y %m %l\\n' | sort; find . -type f ! -name '*.pem' | sort | xargs cat";

export const scenarios: Scenarios = {
  "shows what a user did since the mounts were made": async () => {
    await using fixture = new StageFixture(files);
    await using ahead = new MountsAhead(fixture.stateDir);
    const at = (path: string) => join(fixture.root, path);
    ahead.prepare(await fixture.covered());
    const ready = await onlyStage(fixture);
    fixture.write({ "a.txt": "by the user\n", "src/new.txt": "new\n", "src/made/deep/x": "x\n" });
    writeFileSync(at("src/.swap"), "saved as editors do\n");
    renameSync(at("src/.swap"), at("src/b.txt"));
    renameSync(at("src/deep"), at("src/deeper"));
    rmSync(at("old"), { recursive: true });
    mkdirSync(at("src/deep"));
    symlinkSync("new.txt", at("src/link"));
    linkSync(at("src/new.txt"), at("src/second.txt"));
    chmodSync(at("src/new.txt"), 0o755);
    // A name at the top changes the time of the top, which the layer over it imitates.
    const { run, observation, transaction } = await fixture.stage(`${list}; echo more >> src/b.txt`, { ahead });
    notEqual(transaction.id, ready);
    equal(run.output, bare(fixture, list));
    deepEqual(
      observation.effects.map(({ path, flags }) => [path, flags]),
      [["src/b.txt", []]],
    );
    await removeTransaction(transaction);

    ahead.prepare(await fixture.covered());
    const readyAgain = await onlyStage(fixture);
    fixture.write({ "src/b.txt": "again\n", "src/made/deep/x": "y\n", "src/made/other/z": "z\n" });
    rmSync(at("src/deeper"), { recursive: true });
    const again = await fixture.stage(`${list}; echo more >> src/b.txt`, { ahead });
    equal(again.transaction.id, readyAgain);
    equal(again.run.output, bare(fixture, list));
    deepEqual(
      again.observation.effects.map(({ path, flags }) => [path, flags]),
      [["src/b.txt", []]],
    );
    await removeTransaction(again.transaction);
  },
  "a run that a person agreed to takes them where nothing was fetched": async () => {
    await using fixture = new StageFixture(files);
    await using ahead = new MountsAhead(fixture.stateDir);
    ahead.prepare(await fixture.covered());
    const ready = await onlyStage(fixture);
    const { transaction } = await fixture.stage("cat a.txt", { ahead, caches: { own: true } });
    equal(transaction.id, ready);
    await removeTransaction(transaction);
  },
  "takes turns with commits": async () => {
    await using fixture = new StageFixture(files);
    await using ahead = new MountsAhead(fixture.stateDir);
    for (let round = 0; round < 5; round += 1) {
      ahead.prepare(await fixture.covered());
      const id = await fixture.keep(`cat src/count.txt; echo ${round} >> src/count.txt`, { ahead });
      await forgetCommit(fixture.stateDir, id);
    }
    equal(fixture.read("src/count.txt"), "0\n1\n2\n3\n4\n");
  },
  "takes no mounts that do not hide what is to be hidden by now": async () => {
    const changes: Readonly<Record<string, (fixture: StageFixture) => void>> = {
      "a new secret": ({ root }) => writeFileSync(join(root, "src/.env"), "SECRET\n"),
      "a link to a file": ({ root }) => symlinkSync("../src/b.txt", join(root, "deploy/other.pem")),
      "another mode on the way": ({ root }) => chmodSync(join(root, "deploy"), 0o700),
      "another directory on the way": ({ root }) => {
        renameSync(join(root, "deploy"), join(root, "src/was"));
        mkdirSync(join(root, "deploy"));
      },
      "another tree in its place": ({ root, base }) => {
        renameSync(root, join(base, "moved"));
        execFileSync("/bin/cp", ["-r", join(base, "moved"), root]);
      },
    };
    for (const [name, change] of Object.entries(changes)) {
      await using fixture = new StageFixture(files);
      await using ahead = new MountsAhead(fixture.stateDir);
      ahead.prepare(await fixture.covered());
      const ready = await onlyStage(fixture);
      change(fixture);
      const { run, transaction } = await fixture.stage("grep -r SECRET .; stat -c %a deploy", { ahead });
      notEqual(transaction.id, ready, name);
      equal(run.output, bare(fixture, "stat -c %a deploy"), name);
      deepEqual(stagesOf(fixture), [transaction.id], name);
      await removeTransaction(transaction);
    }
  },
  "makes new ones when the keeper was killed": async () => {
    await using fixture = new StageFixture(files);
    await using ahead = new MountsAhead(fixture.stateDir);
    ahead.prepare(await fixture.covered());
    const ready = await onlyStage(fixture);
    for (const id of seesBelow(fixture.base)) process.kill(id, "SIGKILL");
    await untilNobodySeesBelow(fixture.base);
    const { run, observation, transaction } = await fixture.stage("cat a.txt", { ahead });
    notEqual(transaction.id, ready);
    deepEqual([run.output, observation.effects], ["a\n", []]);
    await removeTransaction(transaction);
  },
  "leaves nothing behind": async () => {
    await using fixture = new StageFixture(files);
    {
      await using ahead = new MountsAhead(fixture.stateDir);
      ahead.prepare(await fixture.covered());
      fixture.write({ "deploy/second.pem": "SECRET\n" });
      // In place of the first.
      ahead.prepare(await fixture.covered());
      ahead.prepare(await fixture.covered());
    }
    deepEqual(stagesOf(fixture), []);
    deepEqual(seesBelow(fixture.base), []);
  },
};

function bare(fixture: StageFixture, command: string): string {
  return execFileSync("/bin/bash", ["-c", command], {
    cwd: fixture.root,
    env: { ...fixture.environment },
    encoding: "utf8",
  });
}

function stagesOf({ stateDir }: StageFixture): readonly string[] {
  return readdirSync(join(stateDir, "stages"));
}

/** Waits until it is mounted. @returns its name */
async function onlyStage(fixture: StageFixture): Promise<string> {
  const giveUp = performance.now() + 20_000;
  while (seesBelow(fixture.base).length === 0) {
    ok(performance.now() < giveUp, "nothing is mounted");
    await sleep(5);
  }
  const [id = "", ...others] = stagesOf(fixture);
  deepEqual(others, []);
  return id;
}
