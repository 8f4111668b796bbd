import { deepEqual, equal, rejects } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { NotCommitted } from "@gennai/machine/change-set/not-committed";
import { commit } from "#commit/commit";
import { ReplacedFiles } from "#commit/replaced-files";
import { forgetCommit, undoCommit } from "#commit/undo-commit";
import { noteWayBack } from "#commit/way-back";
import { removeTransaction } from "#transaction/transaction";
import type { Scenarios } from "../run-scenarios.ts";
import { StageFixture } from "../stage-fixture.ts";

const large = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`big/sub/${index + 1}`, "old\n"]));
const files = {
  ...large,
  "a.txt": "a\n",
  "src/b.txt": "b\n",
  "src/deep/c.txt": "c\n",
  "old/d.txt": "d\n",
  "old/e/f.txt": "f\n",
};

/** What each command makes of the same tree is what it makes of a bare copy, and undoing it leaves no trace. */
const commands = {
  "changes a file": "echo more >> a.txt",
  "makes files and directories": "mkdir -p new/deep && echo 1 > new/deep/one && echo 2 > new/two && ln -s two new/link",
  "removes a file": "rm src/b.txt",
  "removes a directory": "rm -r old",
  "removes a directory and makes it again":
    "rm -r old && mkdir old && echo z > old/z.txt && mkdir old/e && echo g > old/e/g.txt",
  "makes a large directory anew":
    "rm -r big && mkdir -p big/sub && for i in $(seq 30); do echo new > big/sub/$i; done && echo x > big/x",
  "makes most of a directory anew": "cd big/sub && for i in $(seq 25); do echo new > t && mv t $i; done && rm 30",
  "moves a file into a new directory": "mkdir moved && mv src/b.txt moved/ && echo x > moved/x",
  "moves a directory": "cp -r old older && rm -r old",
  "puts a file in a directory's place": "rm -r old && echo file > old",
  "puts a directory in a file's place": "rm a.txt && mkdir -p a.txt/deep && echo 1 > a.txt/deep/one",
  "puts a link in a file's place": "rm a.txt && ln -s src/b.txt a.txt",
  "changes modes": "chmod 755 a.txt && chmod 700 src && chmod 600 src/b.txt && echo more >> src/b.txt",
  "closes directories":
    "mkdir -p closed/in && echo 1 > closed/in/one && chmod 0 closed/in && chmod 500 closed && chmod 555 src",
  "makes unreadable files": "echo 1 > new.txt && chmod 0 new.txt && echo more >> a.txt && chmod 200 a.txt",
  "changes a file by a new name":
    "ln a.txt b && echo more >> b && ln src/b.txt src/a && echo more >> src/a && ln old/d.txt d",
  "changes nothing": "touch a.txt && echo a > a.txt && mv old/d.txt x && mv x old/d.txt && mkdir t && rmdir t",
};

export const scenarios: Scenarios = {
  ...Object.fromEntries(
    Object.entries(commands).map(([name, command]) => [
      `keeps and undoes a command that ${name}`,
      async () => {
        await using staged = new StageFixture(files);
        await using undone = new StageFixture(files);
        await using bare = new StageFixture(files);
        const before = open(bare);
        const { run, observation, transaction } = await staged.stage(command);
        equal(run.exitCode, 0, run.output);
        if (name === "changes nothing") deepEqual(observation.effects, []);
        deepEqual(open(staged), before);
        await commit(transaction, observation, observation.effects);
        execFileSync("/bin/bash", ["-c", command], { cwd: bare.root });
        deepEqual(open(staged), open(bare));
        equal(marksIn(staged), 0);
        equal(await undoCommit(undone.stateDir, await undone.keep(command)), true);
        deepEqual(open(undone), before);
        deepEqual(readdirSync(join(undone.stateDir, "stages")), []);
      },
    ]),
  ),
  "keeps nothing in a directory of the user's that is closed to writing, and says so": async () => {
    // Root may write there.
    if (process.getuid?.() === 0) return;
    await using fixture = new StageFixture(files);
    chmodSync(join(fixture.root, "src"), 0o555);
    const before = fixture.tree();
    const { observation, transaction } = await fixture.stage("echo more >> a.txt; echo more >> src/b.txt");
    await rejects(
      commit(transaction, observation, observation.effects),
      (error) => error instanceof NotCommitted && error.message.includes("src/b.txt: nothing may be written"),
    );
    deepEqual(fixture.tree(), before);
    await removeTransaction(transaction);
  },
  "lets nobody write or read who could not before": async () => {
    await using fixture = new StageFixture({ ...files, key: "k\n", "shared/x": "x\n", "run.sh": "r\n" });
    const at = (path: string): string => join(fixture.root, path);
    chmodSync(at("key"), 0o600);
    chmodSync(at("a.txt"), 0o664);
    chmodSync(at("shared"), 0o2775);
    await fixture.keep(
      "chmod 777 . src src/deep old; chmod 666 src/b.txt key a.txt; chmod +x run.sh; echo k > t; chmod 644 t; mv t key; " +
        "mkdir -m 1777 open open/in; echo x > open/in/x; chmod 666 open/in/x; mkdir shared/in; echo y > shared/in/y; chmod 664 shared/in/y; chmod 775 shared/in; " +
        "rm -r old; mkdir old; chmod 777 old; echo d > old/d.txt",
    );
    const modes = Object.fromEntries(
      [".", "src", "src/deep", "src/b.txt", "key", "a.txt", "run.sh", "old", "old/d.txt"]
        .concat(["open", "open/in", "open/in/x", "shared", "shared/in", "shared/in/y"])
        .map((path) => [path, (lstatSync(at(path)).mode & 0o7777).toString(8)]),
    );
    deepEqual(modes, {
      ".": "755",
      src: "755",
      "src/deep": "755",
      "src/b.txt": "644",
      key: "600",
      "a.txt": "664",
      "run.sh": "755",
      old: "755",
      "old/d.txt": "644",
      open: "755",
      "open/in": "755",
      "open/in/x": "644",
      shared: "2775",
      "shared/in": "2775",
      "shared/in/y": "664",
    });
  },
  "keeps a part of what a command did": async () => {
    await using fixture = new StageFixture(files);
    await fixture.keep("echo more >> a.txt; rm -r old; mkdir -p n/m; echo 1 > n/one; echo 2 > n/m/two; rm src/b.txt", {
      which: ({ path }) => ["a.txt", "n/m/two", "old/d.txt", "old"].includes(path),
    });
    const tree = fixture.tree();
    equal(fixture.read("a.txt"), "a\nmore\n");
    deepEqual([tree["n/one"], tree["n/m/two"]], [undefined, "644 2\n"]);
    deepEqual([tree["old/d.txt"], tree["old/e/f.txt"], tree["src/b.txt"]], [undefined, "644 f\n", "644 b\n"]);
  },
  "keeps no refused part of a directory that was made anew": async () => {
    const command =
      "rm -r big && mkdir -p big/sub && for i in $(seq 30); do echo new > big/sub/$i; done && echo x > big/x";
    // The first one of the directory, one in the midst of it, and the last one.
    for (const refused of ["big/sub/1", "big/sub/2", "big/x"]) {
      await using fixture = new StageFixture(files);
      const before = fixture.tree()[refused];
      await fixture.keep(command, { which: ({ path }) => path !== refused });
      const tree = fixture.tree();
      equal(tree[refused], before, refused);
      deepEqual([tree["big/sub/10"], tree["big/sub/30"]], ["644 new\n", "644 new\n"]);
    }
  },
  "keeps times, and leaves no mark of the overlay": async () => {
    await using fixture = new StageFixture(files);
    await fixture.keep(
      "touch -d 2001-02-03 src/b.txt; echo x >> a.txt; touch -d 2001-02-03 a.txt; mkdir n; mv src/b.txt n/; rm -r old; mkdir old; echo 1 > old/one",
    );
    equal(lstatSync(join(fixture.root, "a.txt")).mtime.getUTCFullYear(), 2001);
    equal(lstatSync(join(fixture.root, "n/b.txt")).mtime.getUTCFullYear(), 2001);
    equal(marksIn(fixture), 0);
  },
  "refuses as a whole what a user changed meanwhile": async () => {
    const meanwhile: Readonly<Record<string, (root: string) => void>> = {
      "a.txt": (root) => writeFileSync(join(root, "a.txt"), "user\n"),
      "src/b.txt": (root) => chmodSync(join(root, "src/b.txt"), 0o600),
      "new.txt": (root) => writeFileSync(join(root, "new.txt"), "user\n"),
      old: (root) => writeFileSync(join(root, "old/e/user.txt"), "user\n"),
      "src/deep": (root) => renameSync(join(root, "src/deep"), join(root, "src/deeper")),
    };
    const command = "echo x >> a.txt; rm src/b.txt; echo x > new.txt; rm -r old; echo x >> src/deep/c.txt";
    for (const [path, change] of Object.entries(meanwhile)) {
      for (const when of ["during", "after"] as const) {
        await using fixture = new StageFixture(files);
        const during = () => change(fixture.root);
        const { observation, transaction } = await fixture.stage(command, when === "during" ? { during } : {});
        if (when === "after") during();
        const before = fixture.tree();
        await rejects(
          () => commit(transaction, observation, observation.effects),
          (error) =>
            error instanceof NotCommitted &&
            error.code === "stale_file" &&
            error.conflicts.some((one) => one.path.startsWith(path)),
          `${path} ${when}`,
        );
        deepEqual(fixture.tree(), before);
        await removeTransaction(transaction);
        deepEqual(readdirSync(join(fixture.stateDir, "stages")), []);
      }
    }
  },
  "undoes nothing over what a user did since": async () => {
    await using fixture = new StageFixture(files);
    const id = await fixture.keep("echo x >> a.txt; mkdir n; echo 1 > n/one");
    writeFileSync(join(fixture.root, "n/user"), "user\n");
    const before = fixture.tree();
    await rejects(() => undoCommit(fixture.stateDir, id), NotCommitted);
    deepEqual(fixture.tree(), before);
    rmSync(join(fixture.root, "n/user"));
    equal(await undoCommit(fixture.stateDir, id), true);
    equal(fixture.read("a.txt"), "a\n");
    equal(await undoCommit(fixture.stateDir, id), false);
  },
  "finds by their content the files that it replaced, until they are forgotten": async () => {
    await using fixture = new StageFixture({
      ...files,
      "old/dir/one": "one\n",
      "old/two": "two\n",
      "mode.sh": "mode\n",
    });
    const { observation, transaction } = await fixture.stage(
      "rm -r old; echo x > a.txt; chmod 700 mode.sh; echo n > new",
    );
    const about = { workspace: fixture.root, session: "s", keptAt: Date.now() };
    noteWayBack(transaction, about, observation.effects);
    const replaced = new ReplacedFiles(fixture.stateDir);
    const path = (text: string, maxBytes = 100) => replaced.find(hash("sha256", text), { maxBytes });
    const find = async (text: string) => {
      const found = await path(text);
      return found === undefined ? undefined : readFileSync(found, "utf8");
    };
    const all = (some: readonly string[]) => Promise.all(some.map(find));
    const texts = ["one\n", "two\n", "a\n"];
    // Nothing was replaced yet.
    deepEqual(await all(texts), [undefined, undefined, undefined]);
    await commit(transaction, observation, observation.effects);
    deepEqual(await all([...texts, "mode\n", "n\n", "x\n"]), [...texts, undefined, undefined, undefined]);
    equal(await path("one\n", 3), undefined);
    appendFileSync((await path("two\n")) ?? "", "more");
    deepEqual(await all(texts), ["one\n", undefined, "a\n"]);
    await forgetCommit(fixture.stateDir, transaction.id);
    deepEqual(await all(texts), [undefined, undefined, undefined]);
  },
  "forgets a way back": async () => {
    await using fixture = new StageFixture(files);
    const id = await fixture.keep("rm -r old");
    equal(existsSync(join(fixture.stateDir, "stages", id)), true);
    await forgetCommit(fixture.stateDir, id);
    deepEqual(readdirSync(join(fixture.stateDir, "stages")), []);
    equal(await undoCommit(fixture.stateDir, id), false);
  },
  "follows no link that is put in a directory's place": async () => {
    await using fixture = new StageFixture(files);
    const { observation, transaction } = await fixture.stage("echo x > src/deep/new; echo x >> src/deep/c.txt");
    renameSync(join(fixture.root, "src/deep"), join(fixture.base, "elsewhere"));
    symlinkSync(join(fixture.base, "elsewhere"), join(fixture.root, "src/deep"));
    await rejects(() => commit(transaction, observation, observation.effects), NotCommitted);
    deepEqual(readdirSync(join(fixture.base, "elsewhere")), ["c.txt"]);
    equal(readlinkSync(join(fixture.root, "src/deep")), join(fixture.base, "elsewhere"));
  },
};

/** How many entries have an attribute of an overlay. */
function marksIn(fixture: StageFixture): number {
  const archive = execFileSync("/bin/tar", [
    "--create",
    "--ignore-failed-read",
    "--xattrs",
    "--xattrs-include=*",
    "--directory",
    fixture.root,
    ".",
  ]);
  return archive.toString("latin1").split("user.overlay.").length - 1;
}

/** The tree, with what is closed opened for the look and closed again. */
function open(fixture: StageFixture): Readonly<Record<string, string>> {
  const modes: [string, number][] = [];
  const visit = (path: string): void => {
    const stat = lstatSync(path);
    if (stat.isSymbolicLink()) return;
    const wanted = stat.isDirectory() ? 0o700 : 0o400;
    const mode = stat.mode & 0o7777;
    modes.push([path.slice(fixture.root.length), mode]);
    if ((mode & wanted) !== wanted) chmodSync(path, mode | wanted);
    if (stat.isDirectory()) for (const name of readdirSync(path)) visit(join(path, name));
  };
  visit(fixture.root);
  const tree = { ...fixture.tree(), modes: JSON.stringify(modes) };
  for (const [path, mode] of modes.toReversed()) {
    if ((lstatSync(fixture.root + path).mode & 0o7777) !== mode) chmodSync(fixture.root + path, mode);
  }
  return tree;
}
