import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandEnvironment } from "@gennai/machine/process/command-environment";
import { plainShell } from "@gennai/machine/process/plain-shell";
import { holdDirectory } from "@gennai/machine/process/run-command";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { runShellCommand } from "#shell-runner";

test.each(["git status", "git diff", "git log -p -1", "cd sub && git diff"])(
  "not staged, %s starts nothing that the repository names",
  async (text) => {
    await using repository = await temporaryRepository({ f: "a\n", "sub/g": "a\n" });
    await using elsewhere = await temporaryDirectory();
    const trap = join(elsewhere.root, "ran");
    const { root } = repository;
    const configure = (name: string, value: string) => repository.git("config", "--file", "traps", name, value);
    await configure("core.fsmonitor", `touch ${trap}`);
    for (const name of ["filter.x.clean", "diff.x.textconv", "diff.x.command", "diff.external"]) {
      await configure(name, `touch ${trap}; cat`);
    }
    await repository.git("config", "include.path", "../traps");
    writeFileSync(join(root, ".git/info/attributes"), "* filter=x diff=x\n");
    writeFileSync(join(root, "f"), "b\n");
    writeFileSync(join(root, "sub/g"), "b\n");
    const run = await runShellCommand(
      { text, cwd: holdDirectory(root), timeoutMs: 30_000, readsOnly: true, startsNothing: false },
      { environment: commandEnvironment({ ...process.env, HOME: elsewhere.root }), shellArguments: plainShell },
      { signal: new AbortController().signal, onOutput: () => {} },
    );
    // git has no word for "no driver": where the repository names one, it stops rather than starts it.
    expect(run).toMatchObject({ exitCode: text === "git status" ? 0 : 128 });
    expect(existsSync(trap)).toBe(false);
  },
);

test.each([
  ...["git status", "git diff", "git diff HEAD", "git diff-index HEAD", "git diff-files", "git log -p -1"],
  ...["gi\\t status", "g''it diff"],
])("not staged, %s starts nothing that a repository within names", async (text) => {
  await using repository = await temporaryRepository({ f: "a\n" });
  await using elsewhere = await temporaryDirectory();
  const trap = join(elsewhere.root, "ran");
  const { root } = repository;
  const { git } = repository;
  const within = join(root, "v");
  await git("init", "-q", within);
  const commit = async (content: string): Promise<void> => {
    writeFileSync(join(within, "f"), content);
    await git("-C", within, "add", "f");
    await git("-C", within, "-c", "user.name=n", "-c", "user.email=e@e", "commit", "-qm", "x");
    await git("add", "v", ".gitmodules");
    await git("commit", "-qm", "v");
  };
  writeFileSync(join(root, ".gitmodules"), '[submodule "v.x"]\n\tpath = v\n\turl = ./v\n\tignore = none\n');
  await commit("1\n");
  await commit("2\n");
  await git("config", "submodule.v.x.ignore", "none");
  await git("config", "diff.submodule", "diff");
  await git("config", "core.fsmonitor", `touch ${trap}`);
  for (const name of ["core.fsmonitor", "filter.x.clean", "diff.x.textconv", "diff.external"])
    await git("-C", within, "config", name, `touch ${trap}; cat`);
  writeFileSync(join(within, ".git/info/attributes"), "* filter=x diff=x\n");
  writeFileSync(join(within, "f"), "3\n");
  const run = await runShellCommand(
    { text, cwd: holdDirectory(root), timeoutMs: 30_000, readsOnly: true, startsNothing: false },
    { environment: commandEnvironment({ ...process.env, HOME: elsewhere.root }), shellArguments: plainShell },
    { signal: new AbortController().signal, onOutput: () => {} },
  );
  expect(run).toMatchObject({ exitCode: 0 });
  expect(existsSync(trap)).toBe(false);
});
