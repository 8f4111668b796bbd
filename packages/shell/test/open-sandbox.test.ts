import { chmodSync, mkdirSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { findBubblewrap } from "@gennai/machine/host/find-bubblewrap";
import { sandboxFailure } from "@gennai/stage/sandbox/shell-sandbox";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openSandbox, type SandboxOptions } from "#open-sandbox";

async function options(stateDir: string, more: Partial<SandboxOptions> = {}) {
  return { commands: "auto", stateDir, home: "/home/nobody", environment: {}, platform: "linux", ...more } as const;
}

describe("openSandbox", () => {
  test.each([
    ["is not there", { bubblewrap: undefined }, /not installed/],
    ["does not start", { bubblewrap: "/nonexistent/bwrap" }, /cannot make a sandbox here/],
    ["refuses", { bubblewrap: "/bin/false" }, /cannot make a sandbox here/],
    ["is for another system", { platform: "darwin" }, /none for darwin/],
  ])("bubblewrap %s: said by auto, an end by required", async (_name, more, reason) => {
    await using state = await temporaryDirectory();
    await using opened = await openSandbox(await options(state.root, more));
    expect(opened).toMatchObject({ state: "unsandboxed", reason: expect.stringMatching(reason) });
    await expect(openSandbox({ ...(await options(state.root, more)), commands: "staged" })).rejects.toMatchObject({
      code: "sandbox_required",
      hint: expect.stringMatching(/./),
    });
  });

  test("one without the filter of system calls is told of", async () => {
    const old = 'case "$*" in *--seccomp*) exit 1;; esac; exec /usr/bin/bwrap "$@"\n';
    await using state = await temporaryDirectory({ bwrap: `#!/bin/sh\n${old}` });
    chmodSync(state.path("bwrap"), 0o755);
    await using opened = await openSandbox(
      await options(realpathSync(state.root), { bubblewrap: state.path("bwrap") }),
    );
    expect(opened).toMatchObject({
      state: "sandboxed",
      reason: expect.stringMatching(/filters no system calls here$/),
    });
    await using whole = await openSandbox(await options(realpathSync(state.root)));
    expect(whole).toMatchObject({ state: "sandboxed", reason: expect.not.stringContaining("filters") });
  });

  test("off is off", async () => {
    await using state = await temporaryDirectory();
    await using opened = await openSandbox(await options(state.root, { commands: "ask" }));
    expect(opened).toMatchObject({ state: "unsandboxed", reason: "it was switched off" });
  });

  test("leaves nothing on disk, and removes what a process that died left", async () => {
    await using state = await temporaryDirectory();
    mkdirSync(join(state.root, "sandbox", "999999-1-00ff.1", "tmp"), { recursive: true });
    const opened = await openSandbox(await options(realpathSync(state.root)));
    expect(opened.state).toBe("sandboxed");
    expect(readdirSync(join(state.root, "sandbox"))).toHaveLength(1);
    await opened[Symbol.asyncDispose]();
    expect(readdirSync(join(state.root, "sandbox"))).toEqual([]);
  });
});

test("bubblewrap is only taken from where root put it", async () => {
  await using directory = await temporaryDirectory({ bwrap: "#!/bin/sh\n", open: "#!/bin/sh\n" });
  chmodSync(directory.path("bwrap"), 0o644);
  chmodSync(directory.path("open"), 0o777);
  expect(
    findBubblewrap([directory.path("bwrap"), directory.path("open"), directory.path("missing"), directory.root]),
  ).toBeUndefined();
  vi.stubEnv("PATH", `${directory.root}:${process.env["PATH"]}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(findBubblewrap()).toMatch(/^\/(?:usr|bin|run)\//);
});

test.each([
  [
    { exitCode: 1, output: "bwrap: Can't find source path /x: No such file or directory\n" },
    "bwrap: Can't find source path /x: No such file or directory",
  ],
  [{ exitCode: 1, output: "ran\nbwrap: no\n" }, undefined],
  [{ exitCode: 0, output: "bwrap: no\n" }, undefined],
])("a start that failed is told from a command that did: %o", (run, expected) => {
  expect(sandboxFailure(run)).toBe(expected);
});
