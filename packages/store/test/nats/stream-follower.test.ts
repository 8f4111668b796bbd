import type { JsMsg } from "@nats-io/jetstream";
import { expect, it, onTestFinished } from "vitest";
import { StoreError } from "#database/store-error";
import type { StreamAccess } from "#nats/create-once";
import { type FollowerOptions, StreamFollower } from "#nats/stream-follower";

const all = [1, 2, 3, 4, 5, 6];

/** A stream with these positions, whose consumers send what `sent` says, given where each is to begin. */
function streamOf(positions: readonly number[], sent: (start: number, consumer: number) => readonly number[]) {
  const starts: number[] = [];
  const access = {
    stream: "g_log",
    manager: {
      streams: {
        info: async () => ({
          state: {
            first_seq: positions[0],
            last_seq: positions.at(-1),
            deleted: all.filter((position) => !positions.includes(position)),
          },
        }),
      },
    },
    client: {
      consumers: {
        get: async (_stream: string, { opt_start_seq: start }: { readonly opt_start_seq: number }) => {
          starts.push(start);
          const { promise, resolve } = Promise.withResolvers<void>();
          const messages = async function* () {
            yield* sent(start, starts.length).map((seq) => ({ seq }));
            await promise;
          };
          return { consume: async () => Object.assign(messages(), { stop: resolve }) };
        },
      },
    },
  } as unknown as StreamAccess;
  return { access, starts };
}

function follow(access: StreamAccess, take: (positions: readonly number[]) => void = () => undefined) {
  const taken: number[] = [];
  const failures: unknown[] = [];
  const options: FollowerOptions = {
    position: () => taken.at(-1) ?? 0,
    take: async (messages: readonly JsMsg[]) => {
      const positions = messages.map(({ seq }) => seq);
      take(positions);
      taken.push(...positions);
    },
    onFailure: (error) => failures.push(error),
  };
  const follower = new StreamFollower(access, options);
  onTestFinished(() => follower[Symbol.asyncDispose]());
  return { follower, taken, failures };
}

it.each<{ name: string; stream: number[]; sent: (start: number, consumer: number) => number[]; starts: number[] }>([
  { name: "all that is sent", stream: all, sent: () => all, starts: [1] },
  {
    name: "what a consumer skipped, from a new one",
    stream: all,
    sent: (start, consumer) => (consumer === 1 ? [1, 2, 5, 6] : all.filter((seq) => seq >= start)),
    starts: [1, 3],
  },
  {
    name: "what the first messages of a consumer skipped",
    stream: all,
    sent: (start, consumer) => (consumer === 1 ? [4, 5] : all.filter((seq) => seq >= start)),
    starts: [1, 1],
  },
  { name: "what was sent twice, once", stream: all, sent: () => [1, 2, 1, 2, 3, 3, 4, 5, 6], starts: [1] },
  { name: "what the stream has around what it lost", stream: [2, 5, 6], sent: () => [2, 5, 6], starts: [1] },
  {
    name: "what was skipped beside what the stream lost",
    stream: [1, 3, 6],
    sent: (start, consumer) => (consumer === 1 ? [1, 6] : [1, 3, 6].filter((seq) => seq >= start)),
    starts: [1, 2],
  },
])("takes $name", async ({ stream, sent, starts }) => {
  const { access, starts: found } = streamOf(stream, sent);
  const { follower, taken } = follow(access);
  await follower.caughtUp();
  expect(taken).toEqual(stream);
  expect(found).toEqual(starts);
  expect(follower.isCurrent).toBe(true);
});

it("takes the same messages again after a full disk", async () => {
  const { access } = streamOf(all, (start) => all.filter((seq) => seq >= start));
  let isFull = true;
  const { follower, taken, failures } = follow(access, () => {
    if (isFull) {
      isFull = false;
      throw new StoreError("disk_full", "Free some space.");
    }
  });
  await follower.caughtUp();
  expect(taken).toEqual(all);
  expect(failures).toEqual([]);
});

it("ends with what does not follow, and says why to every caller", async () => {
  const { access } = streamOf(all, () => all);
  const why = new StoreError("corrupt", "The log lacks a message.");
  const { follower, taken, failures } = follow(access, () => {
    throw why;
  });
  await expect(follower.caughtUp()).rejects.toBe(why);
  await expect(follower.caughtUp()).rejects.toBe(why);
  expect([taken, failures, follower.isCurrent]).toEqual([[], [why], false]);
});
