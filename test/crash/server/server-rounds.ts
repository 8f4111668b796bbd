import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { type CrashOptions, randomNumbers } from "../crash-options.ts";
import { CrashWorld, fileSize, never, SessionFollower } from "./crash-world.ts";

/** After so many, a store of its own begins: what is checked after each kill grows with it. */
const roundsOfOneWorld = 20;

/** What the model does in each kind of turn. */
const turns = [
  {
    match: "edit",
    steps: [
      { tool: { name: "Read", args: { file_path: "big.txt", limit: 1 } } },
      ...[..."bcdefghijkl"].flatMap((letter) => [
        { text: { repeat: 20, chunk: `${letter} ` } },
        { delay_ms: 5 },
        { tool: { name: "Write", args: { file_path: "big.txt", content: letter.repeat(fileSize) } } },
      ]),
    ],
  },
  {
    match: "ask",
    steps: [{ tool: { name: "Bash", args: { command: "echo ran >> asked.txt" } } }, { text: ["Done."] }],
  },
  {
    match: "propose",
    steps: [
      { tool: { name: "Read", args: { file_path: "small.txt" } } },
      { tool: { name: "Write", args: { file_path: "small.txt", content: "proposed\n" } } },
      { text: ["Done."] },
    ],
  },
];

interface Scene {
  readonly world: CrashWorld;
  /** In branch mode. */
  readonly worker: SessionFollower;
  /** In proposal mode. */
  readonly proposer: SessionFollower;
  readonly round: number;
}

/** Work that a crash cuts off, and what must hold after it. `work` rejects when the server goes away under it. */
interface Activity {
  /** Milliseconds. */
  readonly longest: number;
  /** @param begun called when the server has promised the first of it */
  work(begun: () => void): Promise<void>;
  /** Gives what the kill hit, in a few words. */
  check(): Promise<string>;
}

/** Kills a server in the middle of turns, proposals, questions and runs of plans, and checks what the next one finds. */
export async function serverRounds({ rounds, seed, onRound }: CrashOptions): Promise<void> {
  const random = randomNumbers(seed);
  for (let first = 0; first < rounds; first += roundsOfOneWorld) {
    await using world = await CrashWorld.open(turns);
    await roundsOf(world, { first, rounds, seed, random, ...(onRound === undefined ? {} : { onRound }) });
    await world.end();
  }
}

/** Those of one world, with its two clients. */
async function roundsOf(
  world: CrashWorld,
  options: CrashOptions & { readonly first: number; readonly random: () => number },
): Promise<void> {
  const { first, rounds, seed, random, onRound } = options;
  const confirm = async () => ({ answer: "yes", scope: "once" }) as const;
  await using worker = await SessionFollower.start(world, "branch", { confirm });
  await using proposer = await SessionFollower.start(world, "proposal", { confirm });
  for (let round = first; round < Math.min(rounds, first + roundsOfOneWorld); round += 1) {
    const scene = { world, worker, proposer, round };
    const activity = activities[Math.floor(random() * activities.length)]?.(scene);
    assert.ok(activity);
    const wait = random() * activity.longest;
    const begun = Promise.withResolvers<void>();
    const working = activity
      .work(begun.resolve)
      .catch(() => undefined)
      .finally(begun.resolve);
    // Some are killed while they begin, however long that takes on this machine.
    if (random() < 0.8) await begun.promise;
    await delay(wait);
    await world.crash();
    await working;
    let hit: string;
    try {
      hit = await activity.check();
      await world.expectWholeFiles();
      await world.expectSoundLedger();
    } catch (cause) {
      throw new Error(`Round ${round} of seed ${seed}, killed after ${Math.round(wait)} ms`, { cause });
    }
    onRound?.(round, hit);
  }
  // One that is left alone ends as it should.
  const { sessionId } = worker.session;
  const last = await world.client.startTurn({ sessionId, userInput: "ask", clientTurnId: `last-${first}` });
  assert.equal(await worker.end(last.turnId), InvokeState.COMPLETED);
  await worker.expectGapless(world);
  await proposer.expectGapless(world);
}

const activities: readonly ((scene: Scene) => Activity)[] = [editing, asking, proposing, runningPlan, runningPlan];

/** A turn that writes a large file anew, again and again. */
function editing({ world, worker, round }: Scene): Activity {
  const turn = startedOnce({ world, worker, round, text: "edit" });
  return { longest: 700, work: turn.work, check: async () => `turn, ${await turn.check()}` };
}

/** A question, answered yes: the command runs at most once, and did when its result was told. */
function asking({ world, worker, round }: Scene): Activity {
  const turn = startedOnce({ world, worker, round, text: "ask" });
  let before = 0;
  return {
    longest: 300,
    async work(begun) {
      before = await world.linesOf("asked.txt");
      await turn.work(begun);
    },
    async check() {
      const end = await turn.check();
      const ran = (await world.linesOf("asked.txt")) - before;
      assert.ok(ran === 0 || ran === 1, `the command ran ${ran} times`);
      const told = worker.events.some(
        ({ turnId, event }) => turnId === turn.turnId() && event.case === "toolResult" && event.value.exitCode === 0,
      );
      if (told) assert.equal(ran, 1);
      return `question, ${end}, ${ran === 1 ? "ran" : "did not run"}`;
    },
  };
}

/** A proposal and its review: what was told of either stands. */
function proposing({ world, proposer, round }: Scene): Activity {
  const turn = startedOnce({ world, worker: proposer, round, text: "propose" });
  let reviewed = "";
  return {
    longest: 300,
    async work(begun) {
      await turn.work(begun);
      const { proposalId, changeId } = await proposer.until((events) => {
        for (const { turnId, event } of events) {
          if (turnId !== turn.turnId() || event.case !== "proposedChanges") continue;
          return { proposalId: event.value.proposalId, changeId: event.value.changes[0]?.id ?? "" };
        }
        return undefined;
      });
      const hunks = [{ changeId, hunkId: "", decision: { type: "undo" } as const }];
      await proposer.session.submitReview({ proposalId, hunks, note: "no" }, never);
      reviewed = proposalId;
    },
    async check() {
      const end = await turn.check();
      assert.equal(await world.workspace.read("small.txt"), "small\n");
      if (reviewed === "") return `proposal, ${end}`;
      await proposer.until(
        (events) =>
          events.some(({ event }) => event.case === "proposalReview" && event.value.proposalId === reviewed) ||
          undefined,
      );
      return `proposal reviewed, ${end}`;
    },
  };
}

/** A plan from its draft to its run: its token opens one run, before the crash or after it, and none besides. */
function runningPlan({ world, worker, round }: Scene): Activity {
  const plans = world.plans(worker.session.sessionId);
  const [file, counted] = [`plan-${round}.txt`, `count-${round}.txt`];
  const told = { planId: "", digest: "", token: "", executed: false };
  return {
    longest: 900,
    async work(begun) {
      const { plan } = await plans.submit(planText(file, counted), never);
      assert.ok(plan);
      Object.assign(told, { planId: plan.planId, digest: plan.digest });
      begun();
      await plans.preview(plan.planId, never);
      told.token = (await plans.approve(plan.planId, plan.digest, never)).approvalToken;
      const run = await plans.execute(plan.planId, plan.digest, told.token, never);
      told.executed = run.executed;
    },
    async check() {
      if (told.planId === "") return "plan, not submitted";
      const execute = () => plans.execute(told.planId, told.digest, told.token, never);
      const { state } = await plans.get(told.planId, never);
      if (told.token !== "" && state === "awaiting_approval") {
        assert.equal(await world.linesOf(counted), 0);
        const run = await execute();
        assert.deepEqual([run.state, await world.linesOf(counted)], ["verifying", 1]);
      }
      if (told.executed) assert.deepEqual([state, await world.linesOf(counted)], ["verifying", 1]);
      const ran = await world.linesOf(counted);
      assert.ok(ran <= 1, `the plan's command ran ${ran} times`);
      await assert.rejects(execute(), "a token was spent twice");
      assert.equal(await world.linesOf(counted), ran);
      const content = await world.workspace.read(file).catch(() => undefined);
      assert.ok(content === undefined || content === `${"p".repeat(50_000)}\n`);
      return `plan ${state}${told.token === "" ? "" : ", approved"}`;
    },
  };
}

function planText(file: string, counted: string): string {
  const step = (id: string, tool: string, action: object, proof: string) => ({
    ...{ id, description: id, tool, risk_level: "medium", requires_confirmation: true, actions: [action] },
    verification_plan: [{ type: "command", command: proof }],
  });
  return JSON.stringify({
    ...{ id: "p", title: "Plan", summary: "What it does" },
    steps: [
      step("write", "Write", { type: "file_write", path: file, content: `${"p".repeat(50_000)}\n` }, `wc -c ${file}`),
      step("count", "Bash", { type: "command", command: `echo ran >> ${counted}` }, `cat ${counted}`),
    ],
  });
}

/** A turn that the client starts once, however often it says so; what was told of it stands, and it has one end. */
function startedOnce(options: {
  readonly world: CrashWorld;
  readonly worker: SessionFollower;
  readonly round: number;
  readonly text: string;
}) {
  const { world, worker, round, text } = options;
  const { sessionId } = worker.session;
  const request = { sessionId, userInput: text, clientTurnId: `round-${round}` };
  let told = "";
  return {
    turnId: () => told,
    async work(begun: () => void) {
      told = (await world.client.startTurn(request)).turnId;
      begun();
    },
    async check() {
      if (told === "") return "not started";
      const end = await worker.end(told);
      assert.ok(end === InvokeState.COMPLETED || end === InvokeState.INTERRUPTED, `the turn ended ${end}`);
      const again = await world.client.startTurn(request);
      assert.deepEqual([again.turnId, again.alreadyStarted], [told, true]);
      return end === InvokeState.COMPLETED ? "completed" : "interrupted";
    },
  };
}
