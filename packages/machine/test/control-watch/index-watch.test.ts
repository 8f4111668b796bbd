import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { nothingAgreed } from "@gennai/governance/policies/files/agreed-control";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { describe, expect, test } from "vitest";
import { ControlWatch } from "#control-watch/control-watch";
import { branchProject } from "./branch-project.ts";

describe("git's index, after a command that runs more than git", () => {
  const evil = "git update-index --add --cacheinfo 100644,$(echo evil | git hash-object -w --stdin),AGENTS.md";

  test.each([
    ["npm test", evil],
    ["git add src/a.ts && npm test", `git add src/a.ts; ${evil}`],
    ["git add -A && git commit -qm x && npm test", `git add -A; git commit -qm x; ${evil}`],
    ["git checkout -qb new && npm test", `git checkout -qb new; ${evil}`],
    ["npm install", evil],
    ["git add src/a.ts && npm test", "git add src/a.ts; git rm -q --cached AGENTS.md"],
    ["git add src/a.ts && npm test", "echo evil >> AGENTS.md; git add -A"],
    [
      "git add src/a.ts && npm test",
      "git init -q v; git -C v -c user.name=n -c user.email=e@e commit -q --allow-empty -m x; git add v",
    ],
  ])("%s: nothing of control files was added unseen", async (command, does) => {
    const made = await branchProject();
    made.write("src/a.ts", "b\n");
    const before = await made.git("ls-files", "-s", "AGENTS.md", "v");
    await made.run(command, does);
    expect(await made.git("ls-files", "-s", "AGENTS.md", "v")).toBe(before);
    expect(made.control()).toMatchObject({ "AGENTS.md": "644 Be kind.\n" });
  });

  test("an index that a test made is gone", async () => {
    await using directory = await temporaryDirectory();
    const root = join(directory.root, "w");
    execFileSync("git", ["init", "-q", root]);
    const { watch } = ControlWatch.open({ stateDir: join(directory.root, "state"), home: homedir() });
    using _watch = watch;
    const run = watch.begin({ workspaceRoot: root, agreed: nothingAgreed, untouchable: [], timeoutMs: 30_000 });
    writeFileSync(join(root, "AGENTS.md"), "evil\n");
    execFileSync("git", ["-C", root, "add", "AGENTS.md"]);
    run.end();
    expect(execFileSync("git", ["-C", root, "ls-files"]).toString()).toBe("");
  });

  test("what git was told to add stays", async () => {
    const made = await branchProject({ sandboxed: false });
    made.write("AGENTS.md", "Be kinder.\r\n");
    made.write(".gitattributes", "* text\n");
    await made.git("config", "core.autocrlf", "true");
    const { putBack } = await made.run("git add -A && npm --version");
    expect(putBack.files).toEqual([]);
    expect(await made.git("diff", "--cached", "--name-only")).toBe(".gitattributes\nAGENTS.md");
  });
});
