import assert from "node:assert/strict";
import { bash, call } from "@gennai/testkit/scripted-steps";
import { type Activity, type Scene, startedOnce } from "./activity.ts";
import { fileSize, never } from "./crash-world.ts";

const letters = [..."bcdefghijkl"];

/** What the model does in these turns. */
export const workingTurns = [
  {
    match: "edit",
    steps: [
      call("Read", { file_path: "big.txt", limit: 1 }),
      ...letters.flatMap((letter) => [
        { text: { repeat: 20, chunk: `${letter} ` } },
        { delay_ms: 5 },
        call("Write", { file_path: "big.txt", content: letter.repeat(fileSize) }),
      ]),
    ],
  },
  { match: "ask", steps: [bash("echo ran >> asked.txt"), { text: ["Done."] }] },
];

/** A turn that writes a large file anew, again and again: every write that was told is on the disk, and at most one more. */
export function editing({ world, worker, round }: Scene): Activity {
  const turn = startedOnce({ world, worker, round, text: "edit" });
  let before = "";
  const letterNow = async () => (await world.workspace.read("big.txt")).charAt(0);
  return {
    longest: 700,
    async work({ begun, effect }) {
      before = await letterNow();
      await turn.work(begun);
      await turn.succeeded("Write");
      effect();
    },
    async check() {
      const end = await turn.check();
      if (end === "not started") return { hit: `turn, ${end}`, effects: 0 };
      const told = turn.successes("Write");
      const possible = [told === 0 ? before : letters[told - 1], letters[told]];
      const now = await letterNow();
      assert.ok(possible.includes(now), `${told} writes were told, on the disk is ${now}:\n${turn.story()}`);
      return { hit: `turn, ${end}`, effects: told };
    },
  };
}

/** A question, answered yes: the command runs at most once, and did when its result was told. */
export function asking({ world, worker, round }: Scene): Activity {
  const turn = startedOnce({ world, worker, round, text: "ask" });
  let before = 0;
  return {
    longest: 300,
    async work({ begun, effect }) {
      before = await world.linesOf("asked.txt");
      await turn.work(begun);
      await turn.succeeded("Bash");
      effect();
    },
    async check() {
      const end = await turn.check();
      const ran = (await world.linesOf("asked.txt")) - before;
      assert.ok(ran === 0 || ran === 1, `the command ran ${ran} times`);
      if (turn.successes("Bash") > 0) assert.equal(ran, 1);
      return { hit: `question, ${end}, ${ran === 1 ? "ran" : "did not run"}`, effects: ran };
    },
  };
}

/** A plan from its draft to its run: its token opens one run, before the crash or after it, and none besides. */
export function runningPlan({ world, worker, round }: Scene): Activity {
  const plans = world.plans(worker.session.sessionId);
  const [file, counted] = [`plan-${round}.txt`, `count-${round}.txt`];
  const told = { planId: "", digest: "", token: "", executed: false };
  return {
    longest: 900,
    async work({ begun, effect }) {
      const { plan } = await plans.submit(planText(file, counted), never);
      assert.ok(plan);
      Object.assign(told, { planId: plan.planId, digest: plan.digest });
      begun();
      await plans.preview(plan.planId, never);
      told.token = (await plans.approve(plan.planId, plan.digest, never)).approvalToken;
      const run = await plans.execute(plan.planId, plan.digest, told.token, never);
      told.executed = run.executed;
      if (told.executed) effect();
    },
    async check() {
      if (told.planId === "") return { hit: "plan, not submitted", effects: 0 };
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
      assert.ok(content === undefined || content === planned);
      return {
        hit: `plan ${state}${told.token === "" ? "" : ", approved"}`,
        effects: ran === 1 && content === planned ? 1 : 0,
      };
    },
  };
}

const planned = `${"p".repeat(50_000)}\n`;

function planText(file: string, counted: string): string {
  const step = (id: string, tool: string, action: object, proof: string) => ({
    id,
    description: id,
    tool,
    risk_level: "medium",
    requires_confirmation: true,
    actions: [action],
    verification_plan: [{ type: "command", command: proof }],
  });
  return JSON.stringify({
    id: "p",
    title: "Plan",
    summary: "What it does",
    steps: [
      step("write", "Write", { type: "file_write", path: file, content: planned }, `wc -c ${file}`),
      step("count", "Bash", { type: "command", command: `echo ran >> ${counted}` }, `cat ${counted}`),
    ],
  });
}
