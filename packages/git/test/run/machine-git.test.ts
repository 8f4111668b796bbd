import { chmodSync, existsSync } from "node:fs";
import { findBubblewrap } from "@gennai/machine/host/find-bubblewrap";
import { processesSaying } from "@gennai/testkit/processes";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { afterEach, expect, test, vi } from "vitest";
import { findGit } from "#run/find-git";
import { machineGit } from "#run/machine-git";

vi.mock("#run/find-git", { spy: true });
vi.mock("@gennai/machine/host/find-bubblewrap", { spy: true });

/** A program that never answers, and whose child holds its output open. */
const silent = `#!/bin/sh
[ "$1" = child ] && { touch "$0.asked"; while :; do sleep 1; done; }
"$0" child &
wait
`;

afterEach(() => {
  vi.useRealTimers();
  vi.mocked(findGit).mockReset();
  vi.mocked(findBubblewrap).mockReset();
});

test.each(["git", "bubblewrap"])("%s that never answers ends with its children at the limit", async (which) => {
  await using place = await temporaryDirectory({ program: silent });
  const program = place.path("program");
  chmodSync(program, 0o755);
  if (which === "git") vi.mocked(findGit).mockReturnValue(program);
  vi.mocked(findBubblewrap).mockReturnValue(which === "git" ? undefined : program);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const searched = machineGit().catch(String);
  await expect.poll(() => existsSync(`${program}.asked`)).toBe(true);
  // The limit, and the time in which the output has to end.
  await vi.advanceTimersByTimeAsync(10_000);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await searched).toBe("GitMissingError: git did not answer in time.");
  if (process.platform === "linux") await expect.poll(() => processesSaying(program)).toEqual([]);
});
