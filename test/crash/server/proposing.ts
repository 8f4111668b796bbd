import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import type { ProposedChanges } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { DecidedHunk } from "@gennai/protocol/whole-moves";
import { call } from "@gennai/testkit/scripted-steps";
import { type Activity, type Milestones, type Scene, startedOnce } from "./activity.ts";
import { never } from "./crash-world.ts";

const lines = Array.from({ length: 40 }, (_none, index) => `line ${index}`);
const textOf = (changed: Readonly<Record<number, string>>) =>
  `${lines.map((line, index) => changed[index] ?? line).join("\n")}\n`;

/** The file that proposals change, as it is before each. */
export const smallText = textOf({});
const proposedText = textOf({ 1: "first proposed", 38: "second proposed" });
/** With the first hunk kept and the second undone. */
const reviewedText = textOf({ 1: "first proposed" });
const addedText = "added\n";

/** What the model does in these turns. */
export const proposingTurns = [
  {
    match: "propose",
    steps: [
      call("Read", { file_path: "small.txt" }),
      call("ProposeChanges", {
        changes: [
          { path: "small.txt", operation: "update", new_content: proposedText },
          { path: "added.txt", operation: "create", new_content: addedText },
        ],
      }),
      { text: ["Proposed."] },
    ],
  },
];

/** A proposal of which one hunk and one file are kept and one hunk is undone: all of that is written, or nothing. */
export function applyingProposal(scene: Scene): Activity {
  const { proposer } = scene;
  const proposing = aProposal(scene);
  let isTold = false;
  const decide = async ({ proposalId, changes: [update, create] }: ProposedChanges) => {
    const hunk = (change: typeof update, at: number | undefined, type: "keep" | "undo"): DecidedHunk => ({
      changeId: change?.id ?? "",
      hunkId: at === undefined ? "" : (change?.hunks[at]?.id ?? ""),
      decision: { type },
    });
    const hunks = [hunk(update, 0, "keep"), hunk(update, 1, "undo"), hunk(create, undefined, "keep")];
    return proposer.session.applyProposal({ proposalId, note: "", hunks, changes: [] }, never);
  };
  return {
    longest: 500,
    async work(reached) {
      const { files } = await decide(await proposing.work(reached));
      assert.deepEqual(files.map(({ path }) => path).sort(), ["added.txt", "small.txt"]);
      isTold = true;
      reached.effect();
    },
    async check() {
      const { end, proposal } = await proposing.check();
      const found = await filesNow(scene);
      assert.ok(["before", "after"].includes(found), found);
      if (isTold) assert.equal(found, "after");
      if (proposal === undefined) {
        assert.equal(found, "before");
        return { hit: `proposal, ${end}`, effects: 0 };
      }
      // The same decisions, sent again, are carried out once whatever the crash cut off.
      await decide(proposal);
      assert.equal(await filesNow(scene), "after");
      await proposer.until((events) => {
        const applied = events.filter(
          ({ event }) => event.case === "changeSetApplied" && event.value.proposalId === proposal.proposalId,
        );
        assert.ok(applied.length <= 1, "the proposal was applied twice");
        return applied[0];
      });
      await cleanUp(scene);
      return { hit: `proposal, ${end}, ${isTold ? "applied" : `${found} its files`}`, effects: isTold ? 1 : 0 };
    },
  };
}

/** A proposal that is refused: nothing is written, and the confirmed review is still there. */
export function rejectingProposal(scene: Scene): Activity {
  const { proposer } = scene;
  const proposing = aProposal(scene);
  let reviewed = "";
  return {
    longest: 300,
    async work(reached) {
      const { proposalId, changes } = await proposing.work(reached);
      const hunks = changes.map(({ id }) => ({ changeId: id, hunkId: "", decision: { type: "undo" } as const }));
      await proposer.session.submitReview({ proposalId, hunks, note: "no" }, never);
      reviewed = proposalId;
      reached.effect();
    },
    async check() {
      const { end } = await proposing.check();
      assert.equal(await filesNow(scene), "before");
      if (reviewed === "") return { hit: `proposal, ${end}`, effects: 0 };
      const review = await proposer.until((events) => {
        for (const { event } of events) {
          if (event.case === "proposalReview" && event.value.proposalId === reviewed) return event.value;
        }
        return undefined;
      });
      assert.deepEqual([review.note, review.hunks.length], ["no", 2]);
      return { hit: `proposal, ${end}, turned down`, effects: 1 };
    },
  };
}

/** The turn that makes the proposal. After a crash there is the whole proposal with its contents, or none. */
function aProposal({ world, proposer, round }: Scene) {
  const turn = startedOnce({ world, worker: proposer, round, text: "propose" });
  const find = (): ProposedChanges | undefined => {
    for (const { turnId, event } of proposer.events) {
      if (turnId === turn.turnId() && event.case === "proposedChanges") return event.value;
    }
    return undefined;
  };
  return {
    async work({ begun }: Milestones): Promise<ProposedChanges> {
      await turn.work(begun);
      await turn.succeeded("ProposeChanges");
      return proposer.until(find);
    },
    async check(): Promise<{ readonly end: string; readonly proposal: ProposedChanges | undefined }> {
      const end = await turn.check();
      const proposal = end === "not started" ? undefined : find();
      if (end === "completed" || turn.successes("ProposeChanges") > 0) assert.ok(proposal, "a proposal was lost");
      if (proposal !== undefined) {
        const texts = proposal.changes.map(async ({ path, newContentBlob }) => [
          path,
          new TextDecoder().decode(await proposer.session.blob(newContentBlob?.sha256 ?? "", never)),
        ]);
        assert.deepEqual(await Promise.all(texts), [
          ["small.txt", proposedText],
          ["added.txt", addedText],
        ]);
        assert.equal(proposal.changes[0]?.hunks.length, 2);
      }
      return { end, proposal };
    },
  };
}

/** Both files as before the review or both as after it; else what they are. */
async function filesNow({ world }: Scene): Promise<string> {
  const small = await world.workspace.read("small.txt");
  const added = await world.workspace.read("added.txt").catch(() => undefined);
  if (small === smallText && added === undefined) return "before";
  if (small === reviewedText && added === addedText) return "after";
  return `half of a proposal: ${JSON.stringify({ small, added })}`;
}

/** For the next proposal. */
async function cleanUp({ world }: Scene): Promise<void> {
  await world.workspace.write("small.txt", smallText);
  await rm(world.workspace.path("added.txt"));
}
