import { machineGit } from "@gennai/machine/git/run/machine-git";
import { expect, test, vi } from "vitest";
import { describeEveryPath } from "./every-path.ts";

vi.mock("@gennai/machine/sandbox/host/find-bubblewrap", () => ({ findBubblewrap: () => undefined }));

test("git runs without a sandbox", async () => {
  expect((await machineGit()).sandbox === undefined).toBe(true);
});

describeEveryPath();
