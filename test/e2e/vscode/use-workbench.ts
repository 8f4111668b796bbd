import { afterAll, afterEach, beforeAll } from "vitest";
import { startWorkbench, type Workbench, type WorkbenchOptions } from "./workbench.ts";

/** One workbench for all tests of a file, with a picture of it when one fails. */
export function useWorkbench(options: () => WorkbenchOptions = () => ({})): () => Workbench {
  let workbench: Workbench | undefined;
  beforeAll(async () => {
    workbench = await startWorkbench(options());
  });
  afterEach(async ({ task }) => {
    if (task.result?.state === "fail") await workbench?.screenshot(`failed ${task.name}`);
  });
  afterAll(() => workbench?.[Symbol.asyncDispose]());
  return () => {
    if (workbench === undefined) throw new Error("There is a workbench within tests only.");
    return workbench;
  };
}
