import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { NotCommitted } from "@gennai/machine/change-set/not-committed";
import { commit } from "#commit/commit";
import { forgetCommit, undoCommit } from "#commit/undo-commit";
import type { EffectFlag } from "#observe/effect";
import { NotObservable } from "#transaction/stage-error";
import { removeTransaction } from "#transaction/transaction";
import type { Scenarios } from "../run-scenarios.ts";
import { seesBelow, untilNobodySeesBelow } from "../sees-below.ts";
import { StageFixture, stagedBy } from "../stage-fixture.ts";

const files = { "a.txt": "a\n", "src/b.txt": "b\n", "src/deep/c.txt": "c\n" };

/** What commands leave, and how it shows. */
const seen: Readonly<Record<string, readonly [command: string, effects: Readonly<Record<string, string>>]>> = {
  "nothing, after all": ["touch a.txt; chmod 600 a.txt; chmod 644 a.txt; echo x > n; rm n; mkdir d; rmdir d", {}],
  "a mode": ["chmod 755 a.txt; chmod 700 src", { "a.txt": "changed", src: "changed" }],
  "a directory made anew": [
    "rm -r src; mkdir src; echo n > src/n",
    { "src/b.txt": "deleted", "src/deep": "deleted", "src/deep/c.txt": "deleted", "src/n": "created" },
  ],
  "pipes and sockets are dropped": ["mkfifo p; rm a.txt; mkfifo a.txt", { "a.txt": "deleted" }],
  "set-user-id": ["cp /bin/true t; chmod u+s t; chmod g+s a.txt", { "a.txt": "changed set-id", t: "created set-id" }],
  "links that lead outside": [
    "ln -s /etc/passwd one; ln -s ../.. two; ln -s src three; ln -s src/../.. four; ln -s three/../../x five; ln -s $PWD/src six",
    {
      five: "created leads-outside",
      four: "created leads-outside",
      one: "created leads-outside",
      six: "created",
      three: "created",
      two: "created leads-outside",
    },
  ],
  "hard links": ["ln a.txt b.txt", { "b.txt": "created hard-link" }],
  "names that differ by case": ["echo x > A.TXT", { "A.TXT": "created case-clash" }],
  "a name in place of one in another case": [
    "mv a.txt A.TXT; echo x > src/B.txt; rm src/b.txt",
    { "A.TXT": "created", "a.txt": "deleted", "src/B.txt": "created", "src/b.txt": "deleted" },
  ],
  "odd names": [
    "echo x > $'a\\tb'; echo x > $'x\\xe2\\x80\\xaey'; echo x > $'a\\xe2\\x80\\x8b.txt'; echo x > 'a.txt '; echo x > 'ü ☂️'",
    {
      "a\tb": "created odd-name",
      "a.txt ": "created odd-name",
      "a\u200b.txt": "created odd-name",
      "x\u202ey": "created odd-name",
      "ü ☂️": "created",
    },
  ],
  "names that are not UTF-8": ["echo x > $'n\\xff'", { "n\uFFFD": "created name-not-utf8" }],
  "closed directories": [
    "mkdir -p c/d; echo x > c/d/e; chmod 0 c/d; chmod 0 c",
    { c: "created", "c/d": "created", "c/d/e": "created" },
  ],
};

export const scenarios: Scenarios = {
  ...Object.fromEntries(
    Object.entries(seen).map(([name, [command, effects]]) => [
      `sees ${name}`,
      async () => {
        await using fixture = new StageFixture(files);
        const before = fixture.tree();
        deepEqual(await fixture.effects(command), effects);
        deepEqual(fixture.tree(), before);
      },
    ]),
  ),
  "lets a link that cannot be followed lead outside": async () => {
    await using fixture = new StageFixture(files);
    const name = "n".repeat(300);
    // Root can follow it into a closed directory.
    const closed = process.getuid?.() === 0 ? "created" : "created leads-outside";
    deepEqual(await fixture.effects(`ln -s d/e l; mkdir d; ln -s ${name} m; chmod 0 d`), {
      d: "created",
      l: closed,
      m: "created leads-outside",
    });
  },
  "says where a file came from": async () => {
    await using fixture = new StageFixture(files);
    const { observation, transaction } = await fixture.stage(
      "mv a.txt z.txt; mkdir n; mv src/b.txt n/; echo more >> n/b.txt",
    );
    const moves = observation.effects.map(({ path, movedFrom, movedTo }) => [path, movedFrom, movedTo]);
    deepEqual(moves, [
      ["a.txt", undefined, "z.txt"],
      ["n", undefined, undefined],
      ["n/b.txt", "src/b.txt", undefined],
      ["src/b.txt", undefined, "n/b.txt"],
      ["z.txt", "a.txt", undefined],
    ]);
    await removeTransaction(transaction);
  },
  "hides secrets by all their names, and never touches them": async () => {
    await using fixture = new StageFixture(
      {
        ...files,
        ".env": "SECRET-1\n",
        "src/key.pem": "SECRET-2\n",
        "vault/one": "SECRET-3\n",
        "src/deep/.env": "SECRET-4\n",
      },
      { isZeroAccess: (path) => path === "vault" || path.startsWith("vault/") },
    );
    linkSync(join(fixture.root, ".env"), join(fixture.root, "harmless.txt"));
    fixture.write({ "notes.txt": "SECRET-5\n" });
    symlinkSync("../notes.txt", join(fixture.root, "src/id_rsa"));
    const { run, observation, transaction } = await fixture.stage(
      "grep -r SECRET . ; ls -A; cat .env harmless.txt notes.txt vault/one; rm -rf src; echo mine > .env; mkdir -p vault; echo x > vault/two; true",
    );
    equal(run.output.includes("SECRET"), false, run.output);
    equal(run.output.includes("vault\n"), false, run.output);
    const kept = Object.fromEntries(
      observation.effects.map(({ path, change, flags }) => [path, [change, ...flags].join(" ")]),
    );
    deepEqual(kept, {
      ".env": "created hidden",
      "src/b.txt": "deleted",
      "src/deep/c.txt": "deleted",
      "src/id_rsa": "deleted",
      vault: "created hidden",
      "vault/two": "created hidden",
    });
    await rejects(
      () => commit(transaction, observation, observation.effects),
      (error) => error instanceof NotCommitted && error.code === "not_committable",
    );
    await commit(
      transaction,
      observation,
      observation.effects.filter(({ flags }) => !flags.includes("hidden")),
    );
    await forgetCommit(fixture.stateDir, transaction.id);
    deepEqual(
      [".env", "src/key.pem", "vault/one", "src/deep/.env", "notes.txt"].map((path) => fixture.read(path)),
      ["SECRET-1\n", "SECRET-2\n", "SECRET-3\n", "SECRET-4\n", "SECRET-5\n"],
    );
    equal(existsSync(join(fixture.root, "src/b.txt")), false);
  },
  "keeps a directory that holds a secret, whatever takes its place": async () => {
    for (const command of [
      "rm -rf src; echo file > src",
      "rm -rf src; ln -s a.txt src",
      "rm -rf src; mkdir src; echo x > src/b.txt",
      "mv src moved",
    ]) {
      await using fixture = new StageFixture({ ...files, "src/key.pem": "SECRET\n" });
      const { observation, transaction } = await fixture.stage(command);
      const kept = observation.effects.filter(({ flags }) => !flags.includes("hidden"));
      await commit(transaction, observation, kept);
      equal(fixture.read("src/key.pem"), "SECRET\n");
      equal(await undoCommit(fixture.stateDir, transaction.id), true);
    }
  },
  "hides what the machine's layout hides, also in a root": async () => {
    await using fixture = new StageFixture(
      { ...files, ".bash_history": "SECRET\n", ".config/gh/hosts.yml": "SECRET\n" },
      { name: "home" },
    );
    const { run, observation, transaction } = await fixture.stage("grep -r SECRET .; ls -A . .config; echo x > n");
    equal(run.output.includes("SECRET") || run.output.includes("history"), false, run.output);
    deepEqual(
      observation.effects.map(({ path }) => path),
      ["n"],
    );
    await removeTransaction(transaction);
  },
  "shows settings without their logins": async () => {
    await using fixture = new StageFixture({
      ...files,
      ".npmrc": "registry=https://r.example\n//r.example/:_authToken=SECRET\n",
    });
    fixture.git("init", "-q");
    fixture.git("remote", "add", "origin", "https://me:SECRET@example.com/x.git");
    fixture.git("config", "http.extraheader", "Authorization: SECRET");
    const idle = await fixture.stage("cat .npmrc");
    deepEqual([idle.observation.effects, idle.observation.dropped], [[], []]);
    await removeTransaction(idle.transaction);
    // Written again as it was shown, it is not changed, and its login stays.
    const again = await fixture.stage("cat .git/config > c; mv c .git/config; cat .npmrc > c; mv c .npmrc");
    deepEqual(again.observation.effects, []);
    deepEqual(
      again.observation.dropped.map(({ path, why }) => `${path} ${why}`),
      [".git/config as-shown", ".npmrc as-shown"],
    );
    await removeTransaction(again.transaction);
    const { run, observation, transaction } = await fixture.stage(
      "cat .npmrc .git/config; git remote -v; git config user.name x; rm .npmrc",
    );
    equal(run.output.includes("SECRET"), false, run.output);
    ok(
      run.output.includes("registry=https://r.example") && run.output.includes("https://example.com/x.git"),
      run.output,
    );
    const flags = (path: string): readonly EffectFlag[] | undefined =>
      observation.effects.find((effect) => effect.path === path)?.flags;
    deepEqual([flags(".git/config"), flags(".npmrc")], [["copy"], ["copy"]]);
    await removeTransaction(transaction);
  },
  "shows the user's own settings of package managers without their logins, and no file of logins": async () => {
    await using fixture = new StageFixture();
    const inHome: Readonly<Record<string, string>> = {
      ".npmrc": "registry=https://r.example/\n//r.example/:_authToken=SECRET\n",
      ".config/pip/pip.conf": "[global]\nindex-url = https://me:SECRET@pypi.example/simple\n",
      ".cargo/config.toml": '[registries.own]\nindex = "https://cargo.example"\ntoken = "SECRET"\n',
      ".cargo/credentials.toml": '[registry]\ntoken = "SECRET"\n',
      ".netrc": "machine r.example login me password SECRET\n",
      ".ssh/id_ed25519": "SECRET\n",
      ".config/gh/hosts.yml": "oauth_token: SECRET\n",
    };
    for (const [path, text] of Object.entries(inHome)) {
      mkdirSync(dirname(join(fixture.home, path)), { recursive: true });
      writeFileSync(join(fixture.home, path), text);
    }
    const { run, observation, transaction } = await fixture.stage(
      `cd ~; grep -rs . .; ls -aR; echo x >> .npmrc; rm .npmrc; true`,
    );
    equal(run.output.includes("SECRET"), false, run.output);
    for (const address of ["https://r.example/", "https://pypi.example/simple", "https://cargo.example"]) {
      ok(run.output.includes(address), run.output);
    }
    for (const name of ["credentials.toml", ".netrc", "id_ed25519", "hosts.yml"]) {
      equal(run.output.includes(name), false, run.output);
    }
    deepEqual(observation.effects, []);
    equal(readFileSync(join(fixture.home, ".npmrc"), "utf8"), inHome[".npmrc"]);
    await removeTransaction(transaction);
  },
  "leaves nothing of the machine in reach": async () => {
    await using fixture = new StageFixture(files);
    writeFileSync(join(fixture.home, "private"), "SECRET\n");
    writeFileSync(join(fixture.stateDir, "token"), "SECRET\n");
    mkdirSync(join(fixture.base, "beside"));
    writeFileSync(join(fixture.base, "beside/file"), "SECRET\n");
    const tries = [
      `cat ${fixture.home}/private ${fixture.stateDir}/token ${fixture.base}/beside/file`,
      `ls ${fixture.base} ${fixture.stateDir}`,
      "mount -t tmpfs x src; umount .; unshare -Ur true; nsenter -t 1 -m true; mknod w c 0 0",
      "cat /proc/1/root/etc/shadow; (exec 3<>/dev/tcp/127.0.0.1/22) ; ls /run /var/run /tmp/.X11-unix",
      "setsid sh -c 'sleep 30; echo late > late.txt' & (sleep 0.2; echo soon > soon.txt) & disown -a; echo begun > begun.txt",
    ];
    const { run, observation, transaction } = await fixture.stage(`${tries.join("\n")}\ntrue`);
    equal(run.output.includes("SECRET"), false, run.output);
    ok(!observation.effects.some(({ path }) => path === "late.txt"), "a process outlived the command");
    ok(
      observation.effects.every(({ path }) => ["begun.txt", "soon.txt"].includes(path)),
      JSON.stringify(observation.effects.map(({ path }) => path)),
    );
    await removeTransaction(transaction);
  },
  "takes nothing for removed when the mounts were ended": async () => {
    await using fixture = new StageFixture(files);
    const during = async () => {
      const stages = join(fixture.stateDir, "stages");
      const [run = ""] = stagedBy === "copy" ? readdirSync(stages) : [];
      if (run !== "") rmSync(join(stages, run, "root-0", "merged"), { recursive: true });
      for (const id of seesBelow(fixture.base)) process.kill(id, "SIGKILL");
      await untilNobodySeesBelow(fixture.base);
    };
    await rejects(fixture.stage("true", { during }), NotObservable);
  },
  "works in a directory of any name, and as the user itself": async () => {
    for (const name of ["a,b:c\\d", "with blank", "ünï", "'quoted\"", "$HOME;x", "new\nline"]) {
      await using fixture = new StageFixture(files, { name });
      const { run, observation, transaction } = await fixture.stage("id -u; stat -c %u a.txt; pwd; echo x >> a.txt");
      deepEqual(run.output.split("\n").slice(0, 2), [String(process.getuid?.()), String(process.getuid?.())], name);
      ok(run.output.includes(`/${name}\n`), `${name}: ${run.output}`);
      await commit(transaction, observation, observation.effects);
      equal(fixture.read("a.txt"), "a\nx\n");
      await forgetCommit(fixture.stateDir, transaction.id);
    }
  },
  "keeps a closed directory of the user's closed": async () => {
    await using fixture = new StageFixture({ ...files, "closed/x": "x\n" });
    chmodSync(join(fixture.root, "closed"), 0o000);
    const { observation, transaction } = await fixture.stage("cat closed/x; echo n > n; true");
    deepEqual(
      observation.effects.map(({ path }) => path),
      ["n"],
    );
    await commit(transaction, observation, observation.effects);
    equal(lstatSync(join(fixture.root, "closed")).mode & 0o777, 0);
    await forgetCommit(fixture.stateDir, transaction.id);
    chmodSync(join(fixture.root, "closed"), 0o700);
  },
  "looks at no more than it can take on": async () => {
    await using fixture = new StageFixture(files);
    const limits = { bytes: 1024 ** 2, entries: 20 };
    const looked = async (text: string): Promise<number> => {
      const stage = await fixture.stageOver(await fixture.covered());
      try {
        await stage.run(
          { text, cwd: fixture.root, environment: fixture.environment, timeoutMs: 60_000 },
          { signal: new AbortController().signal },
        );
        return (await stage.observe(undefined, { limits })).effects.length;
      } finally {
        await stage.close();
        await removeTransaction(stage.transaction);
      }
    };
    equal(await looked("truncate -s 500K one two"), 2);
    equal(await looked("touch $(seq 20)"), 20);
    await rejects(looked("truncate -s 500K one two three"), /more than/);
    await rejects(looked("touch $(seq 21)"), /more than 20/);
  },
  "survives a tree deeper than any path": async () => {
    await using fixture = new StageFixture(files);
    const deep =
      "for i in $(seq 300); do mkdir ddddddddddddddddddddddddd && cd ddddddddddddddddddddddddd || exit 1; done; echo x > x";
    const before = fixture.tree();
    let failure: unknown;
    await fixture.stage(deep).catch((error: unknown) => {
      failure = error;
    });
    ok(failure instanceof Error && failure.message.includes("ENAMETOOLONG"), String(failure));
    deepEqual(fixture.tree(), before);
  },
};
