import { rm } from "node:fs/promises";
import type { TemporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test, vi } from "vitest";
import { runCommandLine } from "#command-line";
import { cliScene } from "../../cli-scene.ts";

const files = { "a.js": "const colour = 1;\n", ".env": "TOKEN=1\n" };
const request = "replace colour with color in a.js";
const agentBranch = "ai-agent/replace-colour-with-color-in-a-js";

async function sceneWithoutCommit() {
  const here = await cliScene(files);
  await rm(here.repository.path(".git"), { recursive: true });
  await here.repository.git("init", "--quiet", "--initial-branch=main");
  await here.repository.git("config", "user.name", "Test");
  await here.repository.git("config", "user.email", "test@example.com");
  return here;
}

async function branchesOf(repository: TemporaryRepository): Promise<readonly string[]> {
  const refs = (await repository.git("for-each-ref", "--format=%(refname:short)", "refs/heads")).trim();
  return refs === "" ? [] : refs.split("\n");
}

test.each([
  { typed: "y\n", made: true },
  { typed: "\n", made: false },
])("a first commit is offered before the branch is left: $typed", async ({ typed, made }) => {
  await using here = await sceneWithoutCommit();
  const console = here.console();
  const ended = runCommandLine(["run", "--ask", request], console);
  await vi.waitFor(() => expect(console.complained()).toContain("Make this first commit? [y/N]"));
  expect(console.complained()).toContain("A first commit on main would have 1 file:\n  a.js\n");
  expect(console.complained()).toContain("These stay out");
  expect(await here.repository.git("branch", "--show-current")).toMatch(/^main/);
  console.input.write(typed);
  expect(await ended).toBe(0);
  expect(await here.repository.read("a.js")).toBe("const color = 1;\n");
  expect((await here.repository.git("branch", "--show-current")).trim()).toBe(agentBranch);
  expect(await branchesOf(here.repository)).toEqual(made ? [agentBranch, "main"] : []);
  if (made) {
    expect(await here.repository.git("ls-tree", "--name-only", "main")).toMatch(/^a\.js\n?$/);
    expect(console.complained()).toContain("The first commit is on main: 1 file.");
    expect(console.complained()).toContain("-const colour = 1;\n+const color = 1;");
  } else {
    expect(console.complained()).toContain("git switch --create main");
  }
});

test("where nobody can be asked, it says that git has no such branch now, and what makes it does", async () => {
  await using here = await sceneWithoutCommit();
  const { code, err } = await here.run("run", request);
  expect(code).toBe(0);
  expect(err).toContain(
    `Branch ${agentBranch} (created) · main has no commit, so git has no branch main now; make it with: git switch --create main\n`,
  );
  await here.repository.git("switch", "--quiet", "--create", "main");
  expect((await here.repository.git("branch", "--show-current")).trim()).toBe("main");
});
