// Run as a program, to be killed: stages a command over a workspace, and keeps or undoes what it did.
import { commit } from "#commit/commit";
import { undoCommit } from "#commit/undo-commit";
import { StageFixture } from "../stage-fixture.ts";

const [base = "", what = "", command = ""] = process.argv.slice(2);
const say = (line: string) => process.stdout.write(`${line}\n`);

const fixture = new StageFixture({}, { base });
if (what === "run") say("begin");
const { run, observation, transaction } = await fixture.stage(command);
if (run.exitCode !== 0) throw new Error(run.output);
if (what === "commit") say("begin");
await commit(transaction, observation, observation.effects);
if (what === "undo") {
  say("begin");
  await undoCommit(fixture.stateDir, transaction.id);
}
say("end");
// What has ended is not to be taken for killed.
process.stdin.resume();
