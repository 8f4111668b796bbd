import { execFileSync } from "node:child_process";
import { gitReadCommand } from "@gennai/governance/network/git-read-command";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";

/** What a pull in two steps leaves is what git's own leaves. */
test.each<[string, string[], boolean]>([
  ["git pull", [], false],
  ["git pull", [], true],
  ["git pull", ["pull.rebase=true"], true],
  ["git pull", ["pull.rebase=false"], true],
  ["git pull", ["pull.ff=only"], true],
  ["git pull --no-rebase --no-edit", [], true],
  ["git pull --rebase", [], true],
  ["git pull --ff-only", ["pull.rebase=true"], false],
  ["git pull --no-ff", [], false],
  ["git pull origin main", [], false],
])("a pull: %s with %j, after commits here as well: %s", async (text, settings, diverged) => {
  await using directory = await temporaryDirectory();
  const env = {
    ...process.env,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z",
    GIT_COMMITTER_DATE: "2026-01-01T00:00:00Z",
  };
  const run = (at: string, command: string): number => {
    try {
      execFileSync("sh", ["-c", command], { cwd: directory.path(at), env, stdio: "ignore" });
      return 0;
    } catch {
      return 1;
    }
  };
  const who = "git config user.name Me; git config user.email me@example.com";
  run(".", `git init -q -b main there; cd there; ${who}; git commit -q --allow-empty -m one`);
  run(
    ".",
    `git clone -q there a; cd a; ${who}; ${settings.map((one) => `git config ${one.replace("=", " ")}`).join("; ") || "true"}`,
  );
  run("there", "echo x > x; git add x; git commit -qm two");
  if (diverged) run("a", "echo y > y; git add y; git commit -qm mine");
  run(".", "cp -a a b");
  const { options = [], remote, operands = [], behind } = gitReadCommand(text) ?? {};
  const own = run("a", text);
  const ours = run(
    "b",
    `${["git", "fetch", ...options, ...(remote === undefined ? [] : [remote]), ...operands].join(" ")} && {\n${behind}\n}`,
  );
  expect(ours).toBe(own);
  const state = (at: string) =>
    execFileSync("git", ["log", "--format=%T %P %s", "-3"], { cwd: directory.path(at), env }).toString();
  expect(state("b")).toBe(state("a"));
});
