import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MountsAhead } from "#mount/mounts-ahead";
import { Stage } from "#stage";
import { removeTransaction } from "#transaction/transaction";
import type { Scenarios } from "../run-scenarios.ts";
import { StageFixture } from "../stage-fixture.ts";

const files = { "a.txt": "a\n", "deploy/key.pem": "SECRET\n" };
/** With these and the root, more than one call of `mount` is needed. */
const cacheNames = ["one", "two", "with, a : strange\\name\n", "four", "five", "six", "seven", "eight"];

/** A workspace with caches of package managers. */
class CachedFixture extends StageFixture {
  readonly caches = cacheNames.map((name) => join(this.home, name));
  readonly ahead = new MountsAhead(this.stateDir, this.caches);

  constructor() {
    super(files);
    for (const path of this.caches) {
      mkdirSync(path);
      writeFileSync(join(path, "kept"), "cached\n");
    }
  }

  /** Runs a command with what is ready. @returns what it printed, and its stage's name; the stage is kept if it left nothing */
  async next(text: string): Promise<{ readonly output: string; readonly id: string; readonly left: boolean }> {
    const stage = await Stage.on(await this.ahead.take(await this.covered()), this.machine);
    const command = { text, cwd: this.root, environment: this.environment, timeoutMs: 60_000 };
    const { output } = await stage.run(command, { signal: new AbortController().signal });
    await stage.observe();
    const spare = await stage.closeForAnother();
    if (spare === undefined) await removeTransaction(stage.transaction);
    else await this.ahead.keep(spare);
    return { output, id: stage.transaction.id, left: spare === undefined };
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.ahead[Symbol.asyncDispose]();
    await super[Symbol.asyncDispose]();
  }
}

const inCache = (index: number): string => `"$HOME"/${cacheNames[index]}`;
/** Everything, its mode, and the attributes of what is written to. Each cache's own directory is new in each run. */
const look = [
  "find . -mindepth 1 -printf '%P %y %m %T@\\n' | sort; find . -maxdepth 0 -printf '%m %T@\\n'",
  `find "$HOME" -mindepth 1 -printf '%P %y %m %TY\\n' | sort; cat a.txt "$HOME"/*/kept`,
  `python3 -c 'import os; print(os.listxattr("."), os.listxattr(os.environ["HOME"] + "/one"))'`,
].join("; ");

export const scenarios: Scenarios = {
  "gives the next run the directories of one that left nothing": async () => {
    await using fixture = new CachedFixture();
    const first = await fixture.next(look);
    ok(first.output.includes("cached\n".repeat(cacheNames.length)), first.output);
    equal(first.left, false);
    const second = await fixture.next(look);
    deepEqual(second, first);
    // What the user does in between shows, also where a run looked before.
    fixture.write({ "a.txt": "by the user\n" });
    writeFileSync(join(fixture.caches[0] ?? "", "new"), "new\n");
    const third = await fixture.next(`cat a.txt ${inCache(0)}/new; ls deploy`);
    deepEqual(third, { output: "by the user\nnew\n", id: first.id, left: false });
    deepEqual(readdirSync(join(fixture.stateDir, "stages")), [first.id]);
  },
  "never those of a run that left something": async () => {
    const leaving = [
      ...["echo new > new.txt", "echo new > new.txt; rm new.txt", "echo more >> a.txt", "rm a.txt", "chmod 700 ."],
      "touch -d 2001-01-01 .",
      `python3 -c 'import os; os.setxattr(".", "user.left", b"1")'`,
      `echo new > ${inCache(0)}/new`,
      `echo more >> ${inCache(1)}/kept`,
      `rm ${inCache(1)}/kept`,
      `chmod 700 ${inCache(0)}`,
      `touch -d 2001-01-01 ${inCache(0)}`,
      `python3 -c 'import os; os.setxattr(os.environ["HOME"] + "/one", "user.left", b"1")'`,
    ];
    await using fixture = new CachedFixture();
    let before = await fixture.next(look);
    for (const command of leaving) {
      const ran = await fixture.next(command);
      deepEqual([command, ran.output, ran.id, ran.left], [command, "", before.id, true]);
      const after = await fixture.next(look);
      notEqual(after.id, before.id);
      deepEqual([command, after.output], [command, before.output]);
      before = after;
    }
  },
  "not where something else is to be hidden, or a cache is not there any more": async () => {
    await using fixture = new CachedFixture();
    const { id } = await fixture.next("true");
    fixture.write({ "deploy/second.pem": "SECRET\n" });
    const hidden = await fixture.next("ls deploy");
    deepEqual([hidden.output, hidden.left], ["", false]);
    notEqual(hidden.id, id);
    for (let count = 0; count < 4; count += 1) {
      fixture.write({ [`deploy/more-${count}.pem`]: "SECRET\n" });
      equal((await fixture.next("ls deploy")).output, "");
    }
    // Those of before are not kept for ever.
    equal(readdirSync(join(fixture.stateDir, "stages")).length, 3);
  },
  "a cache that this user may not read is left out": async () => {
    await using fixture = new CachedFixture();
    chmodSync(fixture.caches[1] ?? "", 0o000);
    const { output } = await fixture.next('cat a.txt; ls "$HOME"/two');
    // Root may read all.
    ok(output.startsWith(process.getuid?.() === 0 ? "a\nkept\n" : "a\nls: "), output);
    chmodSync(fixture.caches[1] ?? "", 0o700);
  },
};
