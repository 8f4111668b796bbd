import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { TestOutside } from "@gennai/testkit/test-outside";
import { expect, test } from "vitest";
import { AskedSession } from "../asked-session.ts";
import { networked } from "./networked.ts";

/** A repository to be taken in, bare and with what a plain web server needs; and its commits. */
async function upstream() {
  const served = await temporaryDirectory({ "work/readme": "hello from a submodule\n" });
  const git = (...args: readonly string[]): string =>
    execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@example.com", ...args], { cwd: served.root })
      .toString()
      .trim();
  git("init", "-q", "-b", "main", "work");
  git("-C", "work", "add", "readme");
  git("-C", "work", "commit", "-qm", "first");
  const first = git("-C", "work", "rev-parse", "HEAD");
  await served.write("work/readme", "hello again\n");
  git("-C", "work", "commit", "-qam", "second");
  const second = git("-C", "work", "rev-parse", "HEAD");
  git("clone", "-q", "--bare", "work", "r.git");
  git("-C", "r.git", "update-server-info");
  return { served, first, second, [Symbol.asyncDispose]: () => served[Symbol.asyncDispose]() };
}

test("git submodule update --init: by one yes to its host and one to git's settings, shown as they are; later ones go on", async () => {
  await using one = await upstream();
  using outside = new TestOutside();
  await outside.pages("git.example", 80, ({ url = "" }) => {
    const file = join(one.served.root, (url.split("?")[0] ?? "").slice(1));
    return existsSync(file) ? { body: readFileSync(file) } : { status: 404 };
  });
  const update = "git submodule update --init";
  await using server = await networked(outside, [update, update, "git submodule update && git status --short"], {
    ".gitmodules": '[submodule "sub"]\n\tpath = sub\n\turl = http://git.example/r.git\n',
  });
  const { workspace } = server;
  await workspace.git("update-index", "--add", "--cacheinfo", `160000,${one.first},sub`);
  await workspace.git("commit", "-qm", "with a submodule");
  await using session = await AskedSession.start(server);

  const refused = await session.turn("once", "no");
  expect(refused.output).toContain("nothing it changed was kept");
  expect(existsSync(workspace.path(".git/modules"))).toBe(false);

  const { questions, output } = await session.turn("once", "once");
  const [network, settings, ...others] = questions;
  expect(network?.title, output).toBe("Let git submodule reach git.example:80?");
  expect(others).toEqual([]);
  expect(settings?.computed?.rule, output).toBe("git-changes/settings");
  expect(settings?.diff).toContain("+\turl = http://git.example/r.git");
  expect(settings?.diff).toContain("+\tworktree = ../../../sub");
  expect(settings?.diff).toContain("+gitdir: ../.git/modules/sub");
  expect(await workspace.read("sub/readme")).toBe("hello from a submodule\n");
  expect(await workspace.git("submodule", "status")).toContain(`${one.first} sub`);
  expect(await workspace.git("status", "--short")).toBe("");

  // What the repository around it says is taken, without a network and a question.
  await workspace.git("update-index", "--cacheinfo", `160000,${one.second},sub`);
  await workspace.git("commit", "-qm", "the next of the submodule");
  const later = await session.turn("no");
  expect(later.questions, later.output).toEqual([]);
  expect(later.output).toContain("exit code 0");
  expect(await workspace.read("sub/readme")).toBe("hello again\n");
  expect(await workspace.git("status", "--short")).toBe("");
});

test("a submodule out of a directory comes as well, and what is more than a submodule is refused", async () => {
  await using one = await upstream();
  const add = "git -c protocol.file.allow=always submodule update --init";
  // By programs of the repository: what a command's words would do is refused before it runs.
  const scripts: Readonly<Record<string, string>> = {
    "hook.sh": "echo 'echo ran' > .git/modules/sub/hooks/post-checkout",
    "common.sh": "echo ../../.. > .git/modules/sub/commondir",
    "borrow.sh": "mkdir -p .git/modules/sub/objects/info && echo /tmp > .git/modules/sub/objects/info/alternates",
    "settings.sh": "git -C sub config core.fsmonitor ./evil",
    "plain.sh": "true",
  };
  using outside = new TestOutside();
  await using server = await networked(
    outside,
    Object.keys(scripts).map((script) => `sh ${script}`),
    {
      ...Object.fromEntries(Object.entries(scripts).map(([name, text]) => [name, `${add} && ${text}\n`])),
      ".gitmodules": '[submodule "sub"]\n\tpath = sub\n\turl = ./upstream.git\n',
      ".gitignore": "upstream.git\n",
    },
  );
  const { workspace } = server;
  execFileSync("git", ["clone", "-q", "--bare", join(one.served.root, "r.git"), workspace.path("upstream.git")]);
  await workspace.git("config", "remote.origin.url", `file://${workspace.root}`);
  await workspace.git("update-index", "--add", "--cacheinfo", `160000,${one.first},sub`);
  await workspace.git("commit", "-qm", "with a submodule");
  await using session = await AskedSession.start(server);
  for (const what of ["hooks/post-checkout", "commondir", "objects/info/alternates"]) {
    const { questions, output } = await session.turnWithYes();
    expect(
      questions.map(({ computed }) => computed?.rule),
      output,
    ).not.toContain("git-changes/settings");
    expect(output).toContain(`.git/modules/sub/${what} in git's directory decides what git runs`);
    expect(existsSync(workspace.path(".git/modules"))).toBe(false);
  }
  const settings = await session.turn("no");
  expect(settings.questions[0]?.diff, settings.output).toContain("fsmonitor = ./evil");
  const plain = await session.turnWithYes();
  expect(plain.output).toContain("exit code 0");
  expect(await workspace.read("sub/readme")).toBe("hello from a submodule\n");
});
