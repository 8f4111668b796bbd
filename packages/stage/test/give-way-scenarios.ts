import { equal, ok } from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { commit } from "#commit/commit";
import { undoCommit } from "#commit/undo-commit";
import { stageParts } from "#transaction/staged-root";
import type { Scenarios } from "./run-scenarios.ts";
import { StageFixture } from "./stage-fixture.ts";
import { withTurns } from "./with-turns.ts";

const changed = 2000;
const created = 5000;
const files = Object.fromEntries(Array.from({ length: changed }, (_, index) => [`src/${index}.txt`, `${index}\n`]));
/** Turns that the process's other work must have at least; a pause every 10 ms gives it many times as many. */
const few = 3;

/** A server has other sessions, whose work goes on while this is done. */
export const scenarios: Scenarios = {
  "lets other work of the process have its turn": async () => {
    await using fixture = new StageFixture(files);
    const command = `for f in src/*; do echo more >> $f; done; mkdir new; for i in $(seq ${created}); do echo $i > new/$i; done`;
    let turns = 0;
    const onTurn = () => (turns += 1);
    const { observation, transaction } = await fixture.stage(command, { onTurn });
    equal(observation.effects.length, changed + created + 1);
    ok(turns > few, `observe: ${turns} turns`);

    // In the midst of the work itself, not while the disk is waited for: when some of the files are there, and not all.
    const [root] = transaction.roots;
    const countIn = (part: "fresh" | "old"): number => {
      const directory = join(root?.directory ?? "", stageParts[part]);
      return existsSync(directory) ? readdirSync(directory).length : 0;
    };
    const seen = { fresh: new Set<number>(), old: new Set<number>() };
    await withTurns(
      () => commit(transaction, observation, observation.effects),
      () => {
        seen.fresh.add(countIn("fresh"));
        seen.old.add(countIn("old"));
      },
    );
    ok(seen.fresh.size > few && seen.old.size > few, `commit: ${seen.fresh.size} and ${seen.old.size} steps`);
    equal(readdirSync(join(fixture.root, "new")).length, created);

    const left = new Set<number>();
    const undone = await withTurns(
      () => undoCommit(fixture.stateDir, transaction.id),
      () => left.add(countIn("old")),
    );
    equal(undone, true);
    ok(left.size > few, `undo: ${left.size} steps`);
    equal(fixture.read("src/7.txt"), "7\n");
  },
};
