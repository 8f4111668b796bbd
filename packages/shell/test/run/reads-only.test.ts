import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { repositoryStartsNothing } from "#run/reads-only";

const home = "/home/nobody-here";

function newDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "gennai-test-")));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

function git(directory: string, ...args: readonly string[]): void {
  const identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"];
  execFileSync("git", [...identity, ...args], { cwd: directory, stdio: "ignore" });
}

function repository(name: string): string {
  const directory = join(newDirectory(), name);
  mkdirSync(directory);
  git(directory, "init", "-q");
  git(directory, "commit", "-q", "--allow-empty", "-m", "first");
  return directory;
}

describe("repositoryStartsNothing", () => {
  test.each<[string, () => string]>([
    ["no repository", () => newDirectory()],
    ["plain settings", () => repository("plain")],
    ["a directory of a plain repository", () => join(repository("plain"), "src")],
  ])("is true for %s", (_name, make) => {
    expect(repositoryStartsNothing(make(), home)).toBe(true);
  });

  test.each<[string, () => string]>([
    [
      "a program in the settings",
      () => {
        const top = repository("top");
        git(top, "config", "core.fsmonitor", "./watch");
        return top;
      },
    ],
    [
      "data at another place",
      () => {
        const top = join(newDirectory(), "top");
        git(join(top, ".."), "init", "-q", `--separate-git-dir=${top}.data`, top);
        return top;
      },
    ],
    [
      "a .git file that nobody can place, in a plain repository",
      () => {
        const inner = join(repository("top"), "inner");
        mkdirSync(inner);
        writeFileSync(join(inner, ".git"), "gitdir: ../../elsewhere\n");
        return inner;
      },
    ],
    [
      "a directory that looks like git's own data",
      () => {
        const bare = join(newDirectory(), "bare");
        git(newDirectory(), "init", "-q", "--bare", bare);
        return bare;
      },
    ],
    [
      "a program in the settings of a repository that the index has as a submodule",
      () => {
        const top = repository("top");
        const inner = join(top, "inner");
        mkdirSync(inner);
        git(inner, "init", "-q");
        git(inner, "commit", "-q", "--allow-empty", "-m", "first");
        git(inner, "config", "diff.external", "./compare");
        git(top, "add", "inner");
        return top;
      },
    ],
    [
      "a submodule that is a link to the directory around it",
      () => {
        const top = repository("top");
        git(top, "update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},again`);
        symlinkSync(".", join(top, "again"));
        return top;
      },
    ],
    [
      "more submodules than are looked at",
      () => {
        const top = repository("top");
        const entries = [...Array(51).keys()].flatMap((at) => ["--cacheinfo", `160000,${"1".repeat(40)},m${at}`]);
        git(top, "update-index", "--add", ...entries);
        return top;
      },
    ],
  ])("is false for %s", (_name, make) => {
    expect(repositoryStartsNothing(make(), home)).toBe(false);
  });

  test("looks into the settings of submodules", () => {
    const top = repository("top");
    git(top, "submodule", "add", "-q", repository("part"), "part");
    expect(repositoryStartsNothing(top, home)).toBe(true);
    git(join(top, "part"), "config", "core.fsmonitor", "./watch");
    expect(repositoryStartsNothing(top, home)).toBe(false);
  });
});
