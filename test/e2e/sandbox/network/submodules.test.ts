import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { TestOutside } from "@gennai/testkit/test-outside";
import { expect, test } from "vitest";
import { AskedSession } from "../asked-session.ts";
import { networked } from "./networked.ts";

test("git submodule update reaches its host by one yes; what it makes of git's own is the user's to make", async () => {
  await using served = await temporaryDirectory({ "work/readme": "hello from a submodule\n" });
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@example.com", ...args], { cwd: served.root });
  git("init", "-q", "-b", "main", "work");
  git("-C", "work", "add", "readme");
  git("-C", "work", "commit", "-qm", "first");
  git("clone", "-q", "--bare", "work", "r.git");
  git("-C", "r.git", "update-server-info");
  const commit = git("-C", "work", "rev-parse", "HEAD").toString().trim();

  using outside = new TestOutside();
  await outside.pages("git.example", 80, ({ url = "" }) => {
    const file = join(served.root, (url.split("?")[0] ?? "").slice(1));
    return existsSync(file) ? { body: readFileSync(file) } : { status: 404 };
  });
  await using server = await networked(outside, ["git submodule update --init"], {
    ".gitmodules": '[submodule "sub"]\n\tpath = sub\n\turl = http://git.example/r.git\n',
  });
  await server.workspace.git("update-index", "--add", "--cacheinfo", `160000,${commit},sub`);
  await server.workspace.git("commit", "-qm", "with a submodule");
  await using session = await AskedSession.start(server);
  const { questions, output } = await session.turn("once");
  expect(
    questions.map(({ title }) => title),
    output,
  ).toEqual(["Let git submodule reach git.example:80?"]);
  expect(output).toContain("Submodule path 'sub': checked out");
  expect(output).toMatch(/\[nothing it changed was kept: .*\.git\/modules .* \(rule git-changes\/control\)/);
  expect(output).toContain("Ask the user to make this change.");
  expect(existsSync(server.workspace.path(".git/modules"))).toBe(false);
});
