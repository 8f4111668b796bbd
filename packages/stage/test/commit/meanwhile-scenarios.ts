import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { NotCommitted } from "@gennai/machine/change-set/not-committed";
import { builtProgram } from "@gennai/testkit/built-program";
import { commit } from "#commit/commit";
import { forgetCommit, undoCommit } from "#commit/undo-commit";
import { removeTransaction } from "#transaction/transaction";
import { roundsOf } from "../rounds.ts";
import type { Scenarios } from "../run-scenarios.ts";
import { StageFixture } from "../stage-fixture.ts";

const rounds = roundsOf({ few: 4, many: 50 });

/** The command works on the same names as the user. */
const command = [
  "for i in 1 2 3 4 5 6 7 8; do echo command >> src/$i.txt; done; echo command >> between.txt; rm src/9.txt src/10.txt; rm -r old",
  "mkdir -p made; for i in 1 2 3 4; do echo command > made/command-$i.txt; echo command > src/new-$i.txt; done",
].join("\n");

const files = Object.fromEntries([
  ...Array.from({ length: 12 }, (_, index) => [`src/${index + 1}.txt`, `${index}\n`]),
  ...["between.txt", "old/a", "old/b/c"].map((path) => [path, `${path}\n`]),
]);

export const scenarios: Scenarios = {
  "loses no commit of a user who uses git meanwhile": besideGit,
  "what the user removes meanwhile does not come back": async () => {
    const changes = {
      "in place": "echo command >> src/1.txt",
      "by a rename": "sed -i s/0/command/ src/1.txt",
      "written anew": "rm src/1.txt; echo command > src/1.txt",
      "in a directory that went": "echo command >> old/b/c; sed -i s/old/command/ old/a",
    };
    for (const [way, change] of Object.entries(changes)) {
      await using fixture = new StageFixture(files);
      const { observation, transaction } = await fixture.stage(change, {
        during: () => {
          rmSync(join(fixture.root, "src/1.txt"));
          rmSync(join(fixture.root, "old"), { recursive: true });
        },
      });
      await rejects(commit(transaction, observation, observation.effects), (error: unknown) => {
        ok(error instanceof NotCommitted, way);
        equal(error.code, "stale_file");
        ok(error.message.includes("somebody else removed or moved it"), `${way}: ${error.message}`);
        return true;
      });
      await removeTransaction(transaction);
      deepEqual([existsSync(join(fixture.root, "src/1.txt")), existsSync(join(fixture.root, "old"))], [false, false]);
    }
  },
  "loses nothing of a user who saves, creates, renames and removes meanwhile": async () => {
    const counts = { kept: 0, refused: 0, undone: 0, notUndone: 0, saves: 0 };
    for (let round = 0; round < rounds; round += 1) {
      await using fixture = new StageFixture(files);
      const program = builtProgram(new URL("editing-program.ts", import.meta.url));
      const user = spawn(process.execPath, [program, fixture.root, String(round)], {
        stdio: ["pipe", "pipe", "inherit"],
      });
      const said = text(user.stdout);
      await once(user, "spawn");
      const { observation, transaction } = await fixture.stage(command, {
        during: () => waitFor(join(fixture.root, "ready")),
      });
      // Now and then somebody is in the way for certain.
      if (round % 5 === 0) fixture.write({ "between.txt": "user" });
      let isKept = false;
      try {
        // What the user did not touch until now, so that some of it is kept.
        await commit(
          transaction,
          observation,
          observation.effects.filter(({ flags }) => !flags.includes("changed-by-others")),
        );
        isKept = true;
        counts.kept += 1;
      } catch (error) {
        if (!(error instanceof NotCommitted)) throw error;
        counts.refused += 1;
        await removeTransaction(transaction);
      }
      if (isKept && round % 2 === 0) {
        try {
          await undoCommit(fixture.stateDir, transaction.id);
          counts.undone += 1;
        } catch (error) {
          if (!(error instanceof NotCommitted)) throw error;
          counts.notUndone += 1;
        }
      }
      user.stdin.end();
      const saved = JSON.parse(await said) as readonly { readonly path: string; readonly text: string | null }[];
      for (const { path, text: wanted } of saved) {
        counts.saves += 1;
        const at = join(fixture.root, path);
        const now = existsSync(at) ? readFileSync(at, "utf8") : null;
        // A file that the user removed may be there again by a command that made it, but never with other bytes of the user's.
        if (wanted === null) ok(now === null || !now.includes("user"), `round ${round}: ${path} came back: ${now}`);
        else
          ok(
            now?.includes(wanted),
            `round ${round} (${isKept ? "kept" : "refused"}): ${path} is ${now}, the user saved ${wanted}`,
          );
      }
      await forgetCommit(fixture.stateDir, transaction.id);
      deepEqual(readdirSync(join(fixture.stateDir, "stages")), []);
      equal(
        readdirSync(join(fixture.root, "src")).some((name) => name.startsWith(".gennai")),
        false,
      );
    }
    console.error(JSON.stringify(counts));
    ok(counts.kept > 0 && counts.refused > 0, `one kind of outcome never came: ${JSON.stringify(counts)}`);
  },
};

/** As many commits as the user could make while the command's were staged and kept. */
async function besideGit(): Promise<void> {
  const counts = { kept: 0, refused: 0, commits: 0 };
  for (let round = 0; round < Math.max(3, Math.ceil(rounds / 3)); round += 1) {
    const whenUser = (["is done", "is at it", "comes later"] as const)[round % 3];
    await using fixture = new StageFixture(files);
    for (const args of [
      ["init", "-q", "-b", "main"],
      ["add", "-A"],
      ["commit", "-qm", "first"],
    ])
      fixture.git(...args);
    const { observation, transaction } = await fixture.stage("echo x >> src/1.txt; git commit -qam staged");
    const works = () =>
      text(
        spawn("/bin/sh", ["-c", committing, "sh", String(round % 4)], {
          cwd: fixture.root,
          env: { ...fixture.environment },
          stdio: ["ignore", "pipe", "ignore"],
        }).stdout,
      );
    const meanwhile = whenUser === "comes later" ? undefined : works();
    if (whenUser === "is done") await meanwhile;
    try {
      await commit(transaction, observation, observation.effects);
      counts.kept += 1;
    } catch (error) {
      if (!(error instanceof NotCommitted)) throw error;
      counts.refused += 1;
    }
    const made = (await (meanwhile ?? works())).split("\n").filter((line) => line.startsWith("made "));
    counts.commits += made.length;
    const log = fixture.git("log", "--format=made %s").split("\n");
    for (const one of made)
      ok(log.includes(one), `round ${round}: the commit "${one}" is not in the history: ${log.join(", ")}`);
    fixture.git("fsck", "--strict");
    equal(fixture.git("status", "--porcelain", "--untracked-files=no"), "");
    await removeTransaction(transaction);
  }
  console.error(JSON.stringify(counts));
  ok(
    counts.kept > 0 && counts.refused > 0 && counts.commits > 0,
    `one kind of outcome never came: ${JSON.stringify(counts)}`,
  );
}

/** Says which commits git made; it makes none where the repository is locked. */
const committing = `
sleep 0.0$1
for i in 1 2 3 4; do
  echo $i > user-$i.txt
  tries=0
  # While a lock is held, git refuses, and a person tries again.
  until git add user-$i.txt && git commit -qm user-$i; do
    tries=$((tries + 1))
    [ $tries -lt 200 ] || exit 1
    sleep 0.01
  done
  echo "made user-$i"
done
`;

function waitFor(path: string): void {
  const giveUp = performance.now() + 20_000;
  while (!existsSync(path)) ok(performance.now() < giveUp, "the user did not begin");
}
