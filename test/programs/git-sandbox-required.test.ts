import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { findGit } from "@gennai/git/run/find-git";
import { GitUnsandboxedError } from "@gennai/git/run/machine-git";
import { git } from "@gennai/git/run/run-git";
import { SandboxRequired } from "@gennai/stage/sandbox/sandbox";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer } from "@gennai/testkit/test-server";
import { afterEach, expect, test, vi } from "vitest";
import { hostileRepository } from "./hostile-repository.ts";

vi.mock("@gennai/git/run/find-git", { spy: true });

afterEach(() => {
  vi.mocked(findGit).mockReset();
  vi.unstubAllEnvs();
});

/** A git that works, and leaves a note when it runs. It lies where no sandbox shows it, as one in a home does. */
async function unseenGit() {
  const place = await temporaryDirectory();
  vi.stubEnv("GENNAI_STATE_DIR", place.path("state"));
  const [program, note] = [place.path("state/bin/git"), place.path("note")];
  mkdirSync(dirname(program), { recursive: true });
  writeFileSync(program, `#!/bin/sh\ntouch '${note}'\nexec /usr/bin/git "$@"\n`);
  chmodSync(program, 0o755);
  return {
    program,
    hasRun: () => existsSync(note),
    forget: () => rmSync(note),
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

test("a required sandbox is required of git as well: it never runs without one", async () => {
  await using unseen = await unseenGit();
  const { root } = hostileRepository();
  const status = () => git(["status", "--short"], { directory: root });
  const required = { server: { commands: "staged" } } as const;

  vi.mocked(findGit).mockReturnValue(unseen.program);
  expect(await status()).toMatchObject({ code: 0 });
  expect(unseen.hasRun()).toBe(true);
  unseen.forget();

  const refused = await startTestServer(required).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(SandboxRequired);
  expect(refused).toMatchObject({
    message: expect.stringMatching(/git \(.*\) cannot run in a sandbox: bwrap: /),
    hint: expect.stringMatching(/system's packages.*or leave out --commands staged/),
  });
  await expect(status()).rejects.toThrow(GitUnsandboxedError);

  // Without any git there is nothing to run; one that comes later is held to the same.
  vi.mocked(findGit).mockReturnValue(undefined);
  const server = await startTestServer(required);
  await server[Symbol.asyncDispose]();
  vi.mocked(findGit).mockReturnValue(unseen.program);
  await expect(status()).rejects.toThrow(GitUnsandboxedError);
  expect(unseen.hasRun()).toBe(false);

  vi.mocked(findGit).mockReset();
  await using _server = await startTestServer(required);
  expect(await status()).toMatchObject({ code: 0 });
});
