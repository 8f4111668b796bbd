import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync } from "node:fs";
import { pushCommandOf } from "@gennai/governance/network/push-command";
import { type TemporaryDirectory, temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { keyGitEnvironment } from "#keys/git/key-git";
import type { KeyPlan } from "#keys/login/user-keys";
import { planPush } from "#keys/plan-push";

let home: TemporaryDirectory;
let workspace: TemporaryDirectory;

beforeEach(async () => {
  home = await temporaryDirectory({
    ".gitconfig": "[user]\n\tname = Me\n\temail = me@example.com\n",
    ".ssh/config": "",
  });
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", home.path(".ssh/id_ed25519")]);
  vi.stubEnv("HOME", home.root);
  workspace = await temporaryDirectory();
  git("init", "-q", "-b", "main");
  git("remote", "add", "origin", "ssh://git@git.example/me/good.git");
  await evilProgram("evil.sh");
  git("add", "-A");
  git("commit", "-qm", "one");
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await home[Symbol.asyncDispose]();
  await workspace[Symbol.asyncDispose]();
});

function git(...args: readonly string[]): void {
  execFileSync("git", ["-C", workspace.root, "-c", "protocol.file.allow=always", ...args]);
}

/** Keeps all that it is given. */
async function evilProgram(path: string): Promise<void> {
  await workspace.write(path, `#!/bin/sh\nenv > ${workspace.path("stolen")}\nexit 1\n`);
  chmodSync(workspace.path(path), 0o755);
}

/** What looks like a bare repository, out of files that anybody can commit. */
async function bareLookalike(directory: string): Promise<void> {
  await workspace.write(`${directory}/HEAD`, "ref: refs/heads/main\n");
  await workspace.write(`${directory}/objects/info/alternates`, `${workspace.path(".git/objects")}\n`);
  await workspace.write(`${directory}/refs/heads/main`, await workspace.read(".git/refs/heads/main"));
  await workspace.write(
    `${directory}/config`,
    `[core]\n\tbare = true\n[remote "origin"]\n\turl = ext::${workspace.path("evil.sh")}\n[protocol "ext"]\n\tallow = always\n`,
  );
}

async function plan(text: string, directory = "."): Promise<KeyPlan | undefined> {
  const command = pushCommandOf(text);
  if (command === undefined) throw new Error(`${text} is not a push.`);
  return planPush(command, {
    directory: workspace.path(directory).replace(/\/\.$/, ""),
    workspaceRoot: workspace.root,
    keys: { home: home.root, environment: { ...process.env, SSH_AUTH_SOCK: undefined } },
    signal: new AbortController().signal,
  });
}

async function environmentFor(text: string): Promise<NodeJS.ProcessEnv> {
  using key = await (await plan(text))?.uncover();
  return { ...process.env, ...key?.environment };
}

test("a directory that looks like a repository takes no login: nothing is asked, and git itself does not take it", async () => {
  await bareLookalike("pkg");
  await expect(plan("git push origin main", "pkg")).rejects.toMatchObject({ code: "no_push_target" });

  const cwd = workspace.path("pkg");
  const inside = { ...process.env, ...keyGitEnvironment([]) };
  spawnSync("git", ["push", "origin", "main"], { cwd, env: inside });
  // A git that is too old to know of such directories.
  const old = { ...inside, GIT_CONFIG_COUNT: "0" };
  spawnSync("git", ["push", "origin", "main"], { cwd, env: old });
  expect(existsSync(workspace.path("stolen"))).toBe(false);
});

test("git takes the repository that was read, from wherever it runs, and whatever its data says of others", async () => {
  await bareLookalike("pkg");
  await bareLookalike(".git/other");
  await workspace.write(".git/commondir", "other\n");
  const environment = await environmentFor("git push origin main");
  expect(environment).toMatchObject({ GIT_DIR: workspace.path(".git") });
  for (const cwd of [workspace.root, workspace.path("pkg")]) {
    const { stdout } = spawnSync("git", ["remote", "-v"], { cwd, env: environment, encoding: "utf8" });
    expect(stdout).toContain("ssh://git@git.example/me/good.git (push)");
    expect(stdout).not.toContain("ext::");
  }
});

test("a key that nothing can be signed with is said before anything runs", async () => {
  await home.write(".ssh/id_ed25519", "a key\n");
  const message = `The user's ssh key ${home.path(".ssh/id_ed25519")} cannot be read without its passphrase.`;
  await expect(environmentFor("git push origin main")).rejects.toMatchObject({ code: "no_key", message });
});

test("in a submodule, nobody is asked about the repository around it", async () => {
  await using library = await temporaryDirectory({ "a.txt": "a\n" });
  execFileSync("git", ["init", "-q", "-b", "main", library.root]);
  execFileSync("git", ["-C", library.root, "add", "-A"]);
  execFileSync("git", ["-C", library.root, "commit", "-qm", "one"]);
  git("submodule", "--quiet", "add", library.root, "sub");
  await expect(plan("git push", "sub")).rejects.toMatchObject({ code: "no_push_target" });
  await workspace.write("pointer/.git", `gitdir: ${workspace.path(".git/modules/sub")}\n`);
  await expect(plan("git push", "pointer")).rejects.toMatchObject({ code: "no_push_target" });
});

test("the name of a remote is not an option, also one that the repository's settings choose", async () => {
  git("config", "branch.main.remote", "--receive-pack=evilcmd");
  git("config", "remote.--receive-pack=evilcmd.url", "ssh://me@server.example/r.git");
  await expect(plan("git push")).rejects.toMatchObject({ code: "no_push_target" });
});
