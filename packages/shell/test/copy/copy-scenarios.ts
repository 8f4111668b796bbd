import { deepEqual, equal, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { removeTransaction } from "@gennai/stage/transaction/transaction";
import type { Scenarios } from "../../../stage/test/run-scenarios.ts";
import { StageFixture, shareWithGroup } from "../../../stage/test/stage-fixture.ts";

const files = { "a.txt": "a\n", "src/b.txt": "b\n", "src/deep/c.txt": "c\n" };
const fill = (directory: string): string => `for i in $(seq 12); do echo $i > ${directory}/$i; done`;

/** What holds of copies alone. */
export const scenarios: Scenarios = {
  "gives what is made in a shared directory to its group": async () => {
    await using fixture = new StageFixture({ ...files, "shared/x": "x\n", "shared/run": "r\n" });
    const group = shareWithGroup(join(fixture.root, "shared"));
    chownSync(join(fixture.root, "shared/x"), process.getuid?.() ?? 0, group);
    await fixture.keep(
      "echo y >> shared/x; echo y > shared/y; mkdir -p shared/in/deep; echo z > shared/in/deep/z; echo a > a2.txt",
    );
    const groups = ["shared/x", "shared/y", "shared/in", "shared/in/deep", "shared/in/deep/z", "a2.txt"].map((path) => {
      const { gid, mode } = lstatSync(join(fixture.root, path));
      return `${path} ${gid === group ? "shared" : "own"} ${(mode & 0o7777).toString(8)}`;
    });
    deepEqual(groups, [
      ...["shared/x shared 644", "shared/y shared 644", "shared/in shared 2755", "shared/in/deep shared 2755"],
      ...["shared/in/deep/z shared 644", "a2.txt own 644"],
    ]);
  },
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
    await fixture.keep("rm -rf src; echo more >> a.txt", { which: ({ flags }) => !flags.includes("hidden") });
    equal(fixture.read("a.txt"), "a\nmore\n");
    // Root can look into it.
    if (process.getuid?.() === 0) return;
    chmodSync(join(fixture.root, "src/deep"), 0o700);
    equal(fixture.read("src/deep/c.txt"), "c\n");
  },
  "has git know what is as it was, and see each change, whatever size and time it leaves": async () => {
    for (const setting of ["index.version=2", "index.version=4", "index.skipHash=true", "sha256"]) {
      await using fixture = new StageFixture({ ...files, "one.txt": "one\n", "two.txt": "two\n", ".env": "SECRET\n" });
      fixture.git("init", "-q", ...(setting === "sha256" ? ["--object-format=sha256"] : []));
      symlinkSync("a.txt", join(fixture.root, "link"));
      const add = ["add", "-A"];
      fixture.git(...(setting === "sha256" ? add : ["-c", setting, ...add]));
      fixture.git("commit", "-qm", "first");
      // The plumbing, which reads no file that git knows.
      const changed = "git diff-files --name-only";
      const sameSizeAndTime = "touch -r two.txt t; cp one.txt two.txt; touch -r t two.txt; rm t";
      const { run, transaction } = await fixture.stage(
        `${changed}; ${sameSizeAndTime}; mv src/b.txt t; printf 'x\\n' > src/b.txt; touch -r t src/b.txt; rm t; ln -sf b.txt link; ${changed}; git status --short`,
      );
      equal(run.output, "link\nsrc/b.txt\ntwo.txt\n M link\n M src/b.txt\n M two.txt\n", setting);
      await removeTransaction(transaction);
    }
  },
  "has the user's git know the files when an index is kept": async () => {
    await using fixture = new StageFixture({ ...files, "two.txt": "two\n" });
    fixture.git("init", "-q");
    fixture.git("add", "-A");
    fixture.git("commit", "-qm", "first");
    // What changed in the second of the copy is read again.
    await sleep(1_100);
    await fixture.keep("echo new > new.txt; echo more >> a.txt; git add new.txt");
    deepEqual(fixture.git("diff-files", "--name-only").split("\n").includes("two.txt"), false);
    fixture.git("update-index", "-q", "--refresh", "new.txt");
    equal(fixture.git("diff-files", "--name-only"), "a.txt\n");
    fixture.git("fsck", "--strict");
  },
  "writes to no index that a command leads it to, and to none that is a link": async () => {
    await using fixture = new StageFixture(files);
    fixture.git("init", "-q");
    fixture.git("add", "-A");
    const [own, other] = [join(fixture.root, ".git/index"), join(fixture.home, "other/index")];
    mkdirSync(join(fixture.home, "other"));
    copyFileSync(own, other);
    const before = lstatSync(other, { bigint: true });
    const { transaction } = await fixture.stage(`mv .git kept; ln -s ${fixture.home}/other .git`);
    await removeTransaction(transaction);
    rmSync(own);
    symlinkSync(other, own);
    await fixture.effects("echo more >> a.txt");
    const { mtimeNs, ctimeNs } = lstatSync(other, { bigint: true });
    deepEqual([mtimeNs, ctimeNs], [before.mtimeNs, before.ctimeNs]);
  },
  "moves a link whatever bytes it holds": async () => {
    await using fixture = new StageFixture(files);
    symlinkSync(Buffer.from([0xff, 0x41]), join(fixture.root, "link"));
    await fixture.keep("mv link moved");
    deepEqual(readlinkSync(join(fixture.root, "moved"), { encoding: "buffer" }), Buffer.from([0xff, 0x41]));
  },
  "hides secrets that appear before they are copied": async () => {
    await using fixture = new StageFixture({ ...files, "config/app.txt": "app\n" });
    const roots = await fixture.covered();
    const secrets = [".env", "config/.env.local", "new/server.pem", ".npmrc"];
    fixture.write({ ...Object.fromEntries(secrets.map((path) => [path, "_authToken=CANARY\n"])), "new/b.txt": "b\n" });
    const stage = await fixture.stageOver(roots);
    const { environment, root } = fixture;
    const write = secrets.map((path) => `echo mine > ${path}`).join("; ");
    const run = await stage.run(
      { text: `grep -r CANARY .; ls new; ${write}`, cwd: root, environment, timeoutMs: 60_000 },
      { signal: new AbortController().signal },
    );
    equal(run.output, "b.txt\n");
    const { effects } = await stage.observe();
    deepEqual(
      effects.map(({ path, flags }) => [path, flags.includes("hidden")]),
      secrets.toSorted().map((path) => [path, true]),
    );
    await stage.close();
    await removeTransaction(stage.transaction);
  },
  "takes what the user's git does meanwhile for no change of the command's": async () => {
    await using fixture = new StageFixture(files);
    for (const text of ["init -q", "add -A", "commit -qm first", "pack-refs --all"]) fixture.git(...text.split(" "));
    const during = (): void => {
      fixture.git("commit", "-q", "--allow-empty", "-m", "the user's");
      fixture.git("pack-refs", "--all");
    };
    const { observation, transaction } = await fixture.stage("echo n > n.txt", { during });
    deepEqual(
      observation.effects.map(({ path }) => path),
      ["n.txt"],
    );
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
