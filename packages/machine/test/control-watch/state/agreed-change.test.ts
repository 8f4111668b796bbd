import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { controlProject } from "../control-project.ts";
import { type WatchedWorkspace } from "../watched-workspace.ts";

describe("what was agreed to stays", () => {
  test.each<readonly [command: string, does: string | undefined, path: string, text: RegExp | undefined]>([
    [
      "npm test",
      "mkdir -p dist build/x; echo '{}' > dist/package.json; echo all: > build/x/Makefile",
      "dist/package.json",
      /\{\}/,
    ],
    [
      "npm test",
      "mkdir -p node_modules/x; echo '{}' > node_modules/x/package.json",
      "node_modules/x/package.json",
      /\{\}/,
    ],
    [
      "npm test",
      `printf '{"dependencies":{"a":"1.0.0"},"version":"1.0.1","scripts":{"test":"node --test"}}' > package.json`,
      "package.json",
      /1\.0\.1/,
    ],
    ["npm install b", `sed -i 's/"a": "1.0.0"/"a": "1.0.0", "b": "2.0.0"/' package.json`, "package.json", /"b"/],
    [
      "npm install b",
      "mkdir -p node_modules/.bin node_modules/b/.vscode; echo x > node_modules/.bin/b; echo x > node_modules/b/.vscode/x",
      "node_modules/.bin/b",
      /x/,
    ],
    ["npm pkg set scripts.x=y", `sed -i 's/"scripts": {/"scripts": { "x": "y",/' package.json`, "package.json", /"x"/],
    ["echo x > Makefile", undefined, "Makefile", /x/],
    ["sed -i s/kind/bold/ AGENTS.md", undefined, "AGENTS.md", /bold/],
    ["rm -r sub", undefined, "sub/tsconfig.json", undefined],
    ["mv sub moved", undefined, "moved/.vscode/tasks.json", /\{\}/],
    ["./configure", "echo made > Makefile", "Makefile", /made/],
    ["git init -q v", undefined, "v/.git/config", /core/],
    ["git clone -q . copy", undefined, "copy/AGENTS.md", /kind/],
  ])("%s", async (command, does, path, text) => {
    const { root, run } = await controlProject();
    expect((await run(command, does)).putBack.files).toEqual([]);
    if (text === undefined) expect(existsSync(join(root, path))).toBe(false);
    else expect(readFileSync(join(root, path), "utf8")).toMatch(text);
  });

  test.each<readonly [command: string, does: string, path: string]>([
    ["npm install b", `sed -i 's/"scripts": {/"scripts": { "postinstall": "evil",/' package.json`, "package.json"],
    ["npm install b", "echo evil > AGENTS.md", "AGENTS.md"],
    ["npm install b", "git init -q node_modules/b", "node_modules/b/.git"],
    ["rm -r sub", "echo evil > sub/.vscode/tasks.json", "sub/.vscode/tasks.json"],
    ["echo x > Makefile", "echo x > Makefile; echo evil > AGENTS.md", "AGENTS.md"],
    ["git commit -qam x", "echo evil > AGENTS.md; git commit -qam x", "AGENTS.md"],
    ["git checkout main && npm test", "echo evil > AGENTS.md", "AGENTS.md"],
    ["git rebase -x 'npm test' main", "echo evil > AGENTS.md", "AGENTS.md"],
    ["cp -r a .", "mkdir .husky2; echo evil > .envrc", ".envrc"],
  ])("but no more than that: %s", async (command, does, path) => {
    const { run } = await controlProject();
    expect((await run(command, does)).putBack.files.map((each) => each.path)).toContain(path);
  });
});

describe("git moves what it tracks", () => {
  async function branches(): Promise<WatchedWorkspace> {
    const made = await controlProject();
    await made.git("checkout", "-q", "-b", "other");
    made.write("AGENTS.md", "Be bold.\n");
    made.write(".claude/settings.json", "{}\n");
    await made.git("rm", "-q", "Makefile");
    await made.git("add", "-A");
    await made.git("commit", "-qm", "Other");
    await made.git("checkout", "-q", "main");
    return made;
  }

  test.each([
    "git checkout -q other",
    "git merge -q other",
    "git checkout -q other && npm --version",
    "git cherry-pick other",
    "git reset -q --keep other",
  ])("%s", async (command) => {
    const { run, control, git } = await branches();
    const { putBack, run: ended } = await run(command);
    expect({ putBack: putBack.files, exitCode: ended.exitCode }).toEqual({ putBack: [], exitCode: 0 });
    expect(control()).toMatchObject({ "AGENTS.md": "644 Be bold.\n", ".claude/settings.json": "644 {}\n" });
    expect(control()).not.toHaveProperty("Makefile");
    expect(await git("status", "--porcelain")).toBe("");
  });

  test("a stash goes away and comes back", async () => {
    const { run, control, write } = await controlProject();
    write("AGENTS.md", "Mine.\n");
    expect((await run("git stash -q")).putBack.files).toEqual([]);
    expect(control()["AGENTS.md"]).toBe("644 Be kind.\n");
    expect((await run("git stash pop -q")).putBack.files).toEqual([]);
    expect(control()["AGENTS.md"]).toBe("644 Mine.\n");
  });

  test("a rebase that stops at a conflict goes on, and ends", async () => {
    const { root, run, control, write, git } = await branches();
    write("AGENTS.md", "Be brave.\n");
    await git("commit", "-qam", "Brave");
    const stopped = await run("git rebase -q other");
    expect(stopped.putBack.files).toEqual([]);
    expect(existsSync(join(root, ".git/rebase-merge/git-rebase-todo"))).toBe(true);
    expect(control()["AGENTS.md"]).toContain("<<<<<<<");
    write("AGENTS.md", "Be bold and brave.\n");
    expect((await run("git add AGENTS.md")).putBack.files).toEqual([]);
    const ended = await run("git rebase --continue", "GIT_EDITOR=true git rebase --continue");
    expect({ putBack: ended.putBack.files, exitCode: ended.run.exitCode }).toEqual({ putBack: [], exitCode: 0 });
    expect(existsSync(join(root, ".git/rebase-merge"))).toBe(false);
    expect(await git("log", "--format=%s")).toMatch(/^Brave\nOther\n/);
  });
});
