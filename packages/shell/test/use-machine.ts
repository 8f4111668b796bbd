import { afterAll, beforeAll } from "vitest";
import { stagingMachine } from "./staging-machine.ts";

/** One machine for all tests of a file, each of which has a workspace of its own. */
export function useMachine(): () => Awaited<ReturnType<typeof stagingMachine>> {
  let machine: Awaited<ReturnType<typeof stagingMachine>>;
  beforeAll(async () => {
    machine = await stagingMachine();
  });
  afterAll(() => machine[Symbol.asyncDispose]());
  return () => machine;
}
