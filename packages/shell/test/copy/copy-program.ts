// Run as a program, in namespaces of a test's own: changes a copy of a workspace, keeps what can be kept, and prints it.
import { lstatSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { mountsIn } from "@gennai/machine/entries/mounts-in";
import { commit } from "@gennai/stage/commit/commit";
import { neverKept } from "@gennai/stage/observe/effect";

const [, root = ""] = process.argv.slice(2);
process.env["GENNAI_STAGED_BY"] = "copy";
const { StageFixture } = await import("../../../stage/test/stage-fixture.ts");
const fixture = new StageFixture({}, { base: dirname(root), name: basename(root) });
const { observation, transaction } = await fixture.stage(readFileSync(join(dirname(root), "command"), "utf8"));
const { effects } = observation;
await commit(
  transaction,
  observation,
  effects.filter(({ flags }) => !flags.some((flag) => neverKept.includes(flag))),
);
const shown = Object.fromEntries(effects.map(({ path, change, flags }) => [path, [change, ...flags].join(" ")]));
const owner = lstatSync(join(root, "a.txt")).uid;
process.stdout.write(JSON.stringify({ effects: shown, kept: fixture.read("a.txt"), owner, mounts: mountsIn(root) }));
