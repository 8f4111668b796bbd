import { deepEqual, equal, match, rejects, throws } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, linkSync, readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { rootsThemselves } from "#mount/roots-themselves";
import { removeTransaction } from "#transaction/transaction";
import type { Scenarios } from "../run-scenarios.ts";
import { rootAt, StageFixture } from "../stage-fixture.ts";

const files = { "a.txt": "a\n", "b.txt": "b\n", "src/c.txt": "c\n" };

/** Each fails alone, whatever the others do. */
const attempts = [
  ...["echo x > a.txt", "echo x >> src/c.txt", "rm b.txt", "mv b.txt d.txt", "mkdir new", "ln a.txt second.txt"],
  ...["chmod 600 a.txt", "touch -d 2020-01-01 a.txt", "truncate -s 0 a.txt"],
  ...["exec 3<a.txt; echo x > /proc/self/fd/3", "git config core.pager x", "mount -o remount,rw ."],
];

export const scenarios: Scenarios = {
  "can write nothing": async () => {
    await using fixture = new StageFixture(files);
    fixture.git("init", "--quiet");
    fixture.git("add", "--all");
    const before = fixture.tree();
    const each = attempts.map((attempt) => `(${attempt}) 2>/dev/null && echo "done: ${attempt.replaceAll('"', "")}"`);
    const { run, observation, transaction } = await fixture.stage(`${each.join("\n")}\ntrue`);
    equal(run.output, "");
    deepEqual([observation.effects, observation.dropped, observation.replaced], [[], [], []]);
    await removeTransaction(transaction);
    deepEqual(fixture.tree(), before);
    deepEqual(readdirSync(join(fixture.stateDir, "stages")), []);
  },
  "sees what is there, as git knows it": async () => {
    await using fixture = new StageFixture(files);
    fixture.git("init", "--quiet");
    fixture.git("add", "--all");
    fixture.write({ "a.txt": "changed\n" });
    const { run, transaction } = await fixture.stage("cat a.txt; git status --porcelain; stat -c %i b.txt");
    equal(run.output, `changed\nAM a.txt\nA  b.txt\nA  src/c.txt\n${rootAt(join(fixture.root, "b.txt")).inode}\n`);
    await removeTransaction(transaction);
  },
  "shows nothing of what is hidden, as git knows it": async () => {
    await using fixture = new StageFixture(
      { ...files, ".env": "SECRET\n", "keys/a.pem": "SECRET\n", "closed/deep/x.txt": "SECRET\n" },
      { isZeroAccess: (path) => path === "closed" },
    );
    fixture.git("init", "--quiet");
    fixture.git("add", "--all");
    fixture.git("commit", "--quiet", "--message", "first");
    fixture.write({ ".npmrc": "//r/:_authToken=SECRET\nx=y\n" });
    symlinkSync("keys/a.pem", join(fixture.root, "link"));
    linkSync(join(fixture.root, ".env"), join(fixture.root, "second"));
    const look =
      "grep -r SECRET .; cat .env second link keys/a.pem closed/deep/x.txt; cat .npmrc; git status --porcelain; git diff";
    const { run, transaction } = await fixture.stage(look);
    equal(run.output.includes("SECRET"), false, run.output);
    match(run.output, /^x=y$/m);
    // What is tracked and hidden looks unchanged.
    equal(run.output.slice(run.output.indexOf("?? ")), "?? .npmrc\n?? link\n?? second\n", run.output);
    await removeTransaction(transaction);
  },
  "what the user does meanwhile is no effect of the command": async () => {
    await using fixture = new StageFixture(files);
    const during = (): void => {
      for (const name of readdirSync(fixture.root)) rmSync(join(fixture.root, name), { recursive: true });
      fixture.write({ "new.txt": "new\n" });
    };
    const { observation, transaction } = await fixture.stage("cat a.txt", { during });
    deepEqual(observation.effects, []);
    await removeTransaction(transaction);
  },
  "what was hidden and is saved anew meanwhile is never told": async () => {
    const npmrc = "//r/:_authToken=SECRET\n";
    for (const [name, content, save] of [
      [".env", "SECRET\n", "mv new .env"],
      [".npmrc", npmrc, "mv new .npmrc"],
      // The new one may get the inode of the old one.
      [".env", "SECRET\n", "rm .env; cp new .env"],
      [".env", "SECRET\n", "mv .env .env~; mv new .env"],
    ] as const) {
      await using fixture = new StageFixture({ ...files, [name]: content });
      const saved = Promise.withResolvers<string>();
      // What was mounted on a file is gone when another one takes its name.
      const onOutput = (): void => {
        fixture.write({ new: content });
        execFileSync("/bin/sh", ["-c", save], { cwd: fixture.root });
        saved.resolve(save);
      };
      const look = `echo started; while [ ! -e src/go ]; do sleep 0.05; done; cat ${name}`;
      const looked = fixture.stage(look, { onOutput });
      equal(await saved.promise, save);
      fixture.write({ "src/go": "" });
      await rejects(looked, { name: "NotObservable", message: new RegExp(`${name} was saved`) });
    }
  },
  "nobody answers at a socket in it": async () => {
    await using fixture = new StageFixture(files);
    await using server = createServer((socket) => socket.end("heard"));
    server.listen(join(fixture.root, "app.sock"));
    await once(server, "listening");
    const connect = "import socket; s = socket.socket(socket.AF_UNIX); s.connect('app.sock'); print(s.recv(5))";
    const { run, transaction } = await fixture.stage(`python3 -c "${connect}"`);
    match(run.output, /Connection refused|Not a socket|No such file/);
    await removeTransaction(transaction);
  },
  "another directory in its place is not shown": async () => {
    await using fixture = new StageFixture(files);
    const root = rootAt(fixture.root);
    renameSync(fixture.root, join(fixture.base, "moved"));
    cpSync(join(fixture.base, "moved"), fixture.root, { recursive: true });
    const staged = { ...root, directory: fixture.stateDir };
    throws(() => rootsThemselves([staged], [{ hidden: [], copies: new Map() }], undefined), {
      code: "workspace_replaced",
    });
  },
};
