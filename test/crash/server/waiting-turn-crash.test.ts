import { Code, ConnectError } from "@connectrpc/connect";
import type { Editor } from "@gennai/client/connection/editor";
import { AgentSession } from "@gennai/client/session/agent-session";
import { InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { bash, call } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { CrashWorld, never, SessionFollower } from "./crash-world.ts";

const colour = { question: "Which colour?", options: [{ label: "red" }, { label: "blue" }] };

const turns = [
  { match: "^choose", steps: [call("AskUser", { questions: [colour] }), { text: ["Chosen."] }] },
  {
    match: "^delete",
    // One call after the other: the second one is not made before the first was answered.
    steps: [bash("rm old.txt"), bash("echo ran >> asked.txt"), { text: ["Deleted."] }],
  },
  { match: "^go on", steps: [{ text: ["Something else."] }] },
];

interface Asked {
  readonly text: string;
}

/** A person who answers only when told to. */
class Person {
  readonly asked: Asked[] = [];
  answers = false;
  readonly editor: Editor = {
    confirm: async (question, { signal }) => {
      this.asked.push({ text: question.actionStatement });
      await this.#may(signal);
      return { answer: "yes", scope: "once" };
    },
    askUser: async ({ questions }, { signal }) => {
      this.asked.push({ text: questions[0]?.question ?? "" });
      await this.#may(signal);
      return { end: "answered", answers: questions.map(() => ({ chosen: [1], text: "" })) };
    },
  };

  async #may(signal: AbortSignal): Promise<void> {
    if (this.answers) return;
    await new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  }
}

test("a turn that waited for a person is gone on with after a kill, and each of its calls runs once", async () => {
  await using world = await CrashWorld.open(turns, { "old.txt": "old\n" });
  const person = new Person();
  await using follower = await SessionFollower.start(world, "branch", person.editor);
  const { session } = follower;
  const resumed = () => AgentSession.resume(world.client, session.identity, session.sessionId, never);
  const waitsFor = (count: number) => expect.poll(() => person.asked.length).toBe(count);

  // A question of the model.
  const first = await session.startTurn({ text: "choose" }, never);
  await waitsFor(1);
  await world.crash();
  expect(await follower.end(first.turnId)).toBe(InvokeState.INTERRUPTED);
  const { cutOffTurn } = await resumed();
  expect(cutOffTurn).toMatchObject({ turnId: first.turnId, waited: true });
  expect(cutOffTurn?.message).toContain("Which colour?");

  // And once more while it waits again.
  const second = await session.startTurn({ text: "", continues: first.turnId }, never);
  await waitsFor(2);
  await world.crash();
  expect(await follower.end(second.turnId)).toBe(InvokeState.INTERRUPTED);
  const late = session.startTurn({ text: "", continues: first.turnId }, never);
  expect(await late.catch((error: unknown) => ConnectError.from(error).code)).toBe(Code.FailedPrecondition);
  person.answers = true;
  const third = await session.startTurn({ text: "", continues: second.turnId }, never);
  expect(await follower.end(third.turnId)).toBe(InvokeState.COMPLETED);
  const results = follower.events.flatMap(({ event }) => (event.case === "toolResult" ? [event.value.output] : []));
  expect(results).toEqual([expect.stringContaining("chosen: blue")]);
  expect((await resumed()).cutOffTurn).toBeUndefined();

  // A question of the gate, with another call behind it.
  person.answers = false;
  const asking = await session.startTurn({ text: "delete" }, never);
  await waitsFor(4);
  await world.crash();
  expect(await follower.end(asking.turnId)).toBe(InvokeState.INTERRUPTED);
  expect(await world.workspace.read("old.txt")).toBe("old\n");
  expect((await resumed()).cutOffTurn?.message).toContain("rm old.txt");
  person.answers = true;
  const deleting = await session.startTurn({ text: "", continues: asking.turnId }, never);
  expect(await follower.end(deleting.turnId)).toBe(InvokeState.COMPLETED);
  await expect(world.workspace.read("old.txt")).rejects.toThrow("ENOENT");
  expect(await world.linesOf("asked.txt")).toBe(1);
  await world.expectSoundLedger();
  await follower.expectGapless(world);
});

test("anyone who says something else instead leaves the calls of the turn that waited undone", async () => {
  await using world = await CrashWorld.open(turns, { "old.txt": "old\n" });
  const person = new Person();
  await using follower = await SessionFollower.start(world, "branch", person.editor);
  const { session } = follower;
  const asking = await session.startTurn({ text: "delete" }, never);
  await expect.poll(() => person.asked.length).toBe(1);
  await world.crash();
  await follower.end(asking.turnId);
  const other = await session.startTurn({ text: "go on otherwise" }, never);
  expect(await follower.end(other.turnId)).toBe(InvokeState.COMPLETED);
  expect(person.asked).toHaveLength(1);
  expect(await world.workspace.read("old.txt")).toBe("old\n");
  const late = session.startTurn({ text: "", continues: asking.turnId }, never);
  expect(await late.catch((error: unknown) => ConnectError.from(error).code)).toBe(Code.FailedPrecondition);
});
