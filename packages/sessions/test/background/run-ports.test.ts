import { expect, test } from "vitest";
import { RunPorts } from "#background/run-ports";

function port(number: number) {
  const state = { closed: 0 };
  return {
    state,
    opened: {
      port: number,
      close: async () => {
        state.closed += 1;
      },
    },
  };
}

const refusal = { code: "background_not_found" };

test("what is opened is listed until it is closed", async () => {
  const ports = new RunPorts();
  const { opened, state } = port(4001);
  const pair = await ports.open(3000, async () => opened);
  expect(pair).toEqual({ port: 3000, local: 4001 });
  expect(ports.list()).toEqual([pair]);
  await ports.closeOne(pair);
  expect([ports.list(), state.closed]).toEqual([[], 1]);
});

test("a run that ends while a port of it is being opened has none", async () => {
  const ports = new RunPorts();
  const { opened, state } = port(4001);
  const { promise, resolve } = Promise.withResolvers<typeof opened>();
  const opening = ports.open(3000, () => promise);
  await ports.close();
  resolve(opened);
  await expect(opening).rejects.toMatchObject(refusal);
  expect([ports.list(), state.closed]).toEqual([[], 1]);
  await expect(ports.open(3000, async () => opened)).rejects.toMatchObject(refusal);
});

test("those that are being opened count, and those that could not be do not", async () => {
  const ports = new RunPorts();
  const { promise, resolve } = Promise.withResolvers<void>();
  const taken = ports.open(3000, async () => {
    await promise;
    throw new Error("EADDRINUSE");
  });
  const others = Array.from({ length: 8 }, async (_, index) => {
    return ports.open(3000 + index, async () => port(4000 + index).opened);
  });
  const ends = await Promise.allSettled(others);
  expect(ends.map(({ status }) => status)).toEqual([...Array(7).fill("fulfilled"), "rejected"]);
  resolve();
  await expect(taken).rejects.toThrow("EADDRINUSE");
  await ports.open(3000, async () => port(4100).opened);
  expect(ports.list()).toHaveLength(8);
});
