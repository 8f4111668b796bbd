import { machineGit } from "@gennai/server/git/machine-git";
import { expect, test, vi } from "vitest";
import { describeEveryPath } from "./every-path.ts";

vi.mock("@gennai/server/sandbox/find-bubblewrap", () => ({ findBubblewrap: () => undefined }));

test("git runs without a sandbox", async () => {
  expect((await machineGit()).sandbox === undefined).toBe(true);
});

describeEveryPath();
