import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { commandEnvironment } from "@gennai/machine/process/command-environment";
import { plainShell } from "@gennai/machine/process/plain-shell";
import { holdDirectory } from "@gennai/machine/process/run-command";
import { processesSaying } from "@gennai/testkit/processes";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { runShellCommand } from "#shell-runner";
import { type IsolatedWorkspace, isolatedWorkspace } from "./isolated-workspace.ts";

const mebibyte = 1024 * 1024;
const { signal } = new AbortController();

// Temporary files may lie in memory, and what is written there counts for no disk.
beforeAll(() => {
  const onDisk = fileURLToPath(new URL("../../../../../.cache/on-disk/", import.meta.url));
  mkdirSync(onDisk, { recursive: true });
  vi.stubEnv("TMPDIR", onDisk);
});

/** Fills memory by 16 MiB at a time, and is found by its mark. */
const eat = (mark: string) =>
  `"${process.execPath}" -e 'const held = []; setInterval(() => held.push(Buffer.alloc(16 << 20, 1)), 10)' ${mark}`;

/** Writes 8 MiB at a time, to files that it removes again. */
const write = (mark: string) =>
  `sh -c 'while :; do dd if=/dev/zero of=full bs=1M count=8 2>/dev/null; rm full; done' ${mark}`;

const limits = { memoryBytes: 300 * mebibyte, writtenBytes: 200 * mebibyte };

async function run(fixture: IsolatedWorkspace, text: string, { staged }: { readonly staged: boolean }) {
  const begun = performance.now();
  const bare = { text, cwd: holdDirectory(fixture.root), timeoutMs: 60_000, readsOnly: false, startsNothing: false };
  const ended = staged
    ? await fixture.run(text, { timeoutMs: 60_000, limits })
    : await runShellCommand(
        bare,
        { environment: commandEnvironment(process.env), shellArguments: plainShell, limits },
        { signal, onOutput: () => undefined },
      );
  return { ended, tookMs: performance.now() - begun };
}

describe.each([{ staged: true }, { staged: false }])("a command that takes too much, staged: $staged", (where) => {
  const tooMuchMemory = "it took more than 300 MiB of memory (the limit commands.memory_mib)";
  const tooMuchWritten = "it wrote more than 200 MiB to disks (the limit commands.written_mib)";

  test.each<[string, (mark: string) => string, string]>([
    ["memory", eat, tooMuchMemory],
    ["memory, in the background of a pipe", (mark) => `(${eat(mark)} & sleep 50) | cat`, tooMuchMemory],
    ["memory, in a session of its own", (mark) => `setsid ${eat(mark)} & sleep 50`, tooMuchMemory],
    ["memory, by many", (mark) => [1, 2, 3].map(() => `${eat(mark)} &`).join(" ") + " wait", tooMuchMemory],
    ["the disk, by files that are gone again", write, tooMuchWritten],
    ["the disk, in a session of its own", (mark) => `setsid ${write(mark)} & sleep 50`, tooMuchWritten],
  ])("%s: it is ended, says by which limit, and nothing of it is left", async (_what, hog, exceeded) => {
    await using fixture = await isolatedWorkspace();
    const mark = `hog-${randomUUID()}`;
    const { ended, tookMs } = await run(fixture, hog(mark), where);
    expect(ended).toMatchObject({ state: "over-limit", exceeded, survivors: [] });
    expect(processesSaying(mark)).toEqual([]);
    expect(tookMs).toBeLessThan(45_000);
  });

  test("what only reserves addresses is left alone: Node itself does", async () => {
    await using fixture = await isolatedWorkspace();
    const command = `"${process.execPath}" -e 'new WebAssembly.Memory({ initial: 1, maximum: 65536 }); console.log("fine")'`;
    expect((await run(fixture, command, where)).ended).toMatchObject({
      state: "exited",
      exitCode: 0,
      output: "fine\n",
    });
  });
});

test("memory that is files is bounded as well", async () => {
  await using fixture = await isolatedWorkspace();
  const fill = "dd if=/dev/zero of=/dev/shm/full bs=1M count=1200 2>&1; ls -l /dev/shm; touch /dev/other";
  const { output } = await fixture.run(fill, { timeoutMs: 60_000 });
  expect(output).toMatch(/No space left on device/);
  expect(output).toMatch(/\/dev\/other.*Read-only file system/);
});
