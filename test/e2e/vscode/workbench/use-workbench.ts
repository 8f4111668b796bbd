import { afterAll, afterEach, beforeAll } from "vitest";
import { startWorkbench, type Workbench, type WorkbenchOptions } from "./workbench.ts";

/** One workbench for all tests of a file or group, with a picture of it and what it wrote when one fails. */
export function useWorkbench(
  options: () => WorkbenchOptions | Promise<WorkbenchOptions> = () => ({}),
): () => Workbench {
  let workbench: Workbench | undefined;
  beforeAll(async () => {
    workbench = await startWorkbench(await options());
  });
  afterEach(async ({ task }) => {
    if (task.result?.state !== "fail" || workbench === undefined) return;
    process.stderr.write(`${await workbench.report(`failed ${task.name}`)}\n`);
  });
  afterAll(() => workbench?.[Symbol.asyncDispose]());
  return () => {
    if (workbench === undefined) throw new Error("There is a workbench within tests only.");
    return workbench;
  };
}
