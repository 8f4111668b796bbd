import { afterAll, beforeAll } from "vitest";
import { stagingMachine } from "./staging-machine.ts";

/**
 * One machine for all tests of a file, each of which has a workspace of its own.
 * @param stagedBy `copy`: as where no overlay can be mounted
 */
export function useMachine(stagedBy?: "copy"): () => Awaited<ReturnType<typeof stagingMachine>> {
  let machine: Awaited<ReturnType<typeof stagingMachine>>;
  beforeAll(async () => {
    machine = await stagingMachine(undefined, undefined, undefined, undefined, undefined, stagedBy);
  });
  afterAll(() => machine[Symbol.asyncDispose]());
  return () => machine;
}
