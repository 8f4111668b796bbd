import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A hostile repository, with a directory in which each of its programs leaves its name. */
export interface HostileRepository {
  /** Real path of the working tree. */
  readonly root: string;
  /** Names of the programs that ran since the last look. */
  ran(): readonly string[];
  /** A directory outside of the repository. */
  readonly elsewhere: string;
  git(...args: readonly string[]): string;
  /** As a user without any care runs it. */
  careless(...args: readonly string[]): void;
  write(path: string, text: string): void;
}

/** Committed files with a driver each, all of them changed since; no program has run yet. */
export function hostileRepository(): HostileRepository {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "gennai-hostile-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const [root, canaries, elsewhere] = [join(base, "work"), join(base, "canaries"), join(base, "elsewhere")];
  for (const directory of [root, canaries, elsewhere]) mkdirSync(directory);
  const quiet = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.hooksPath=/dev/null"];
  const git = (...args: readonly string[]) =>
    execFileSync("git", [...quiet, ...args], { cwd: root, encoding: "utf8", stdio: ["pipe", "pipe", "pipe"] });
  const write = (path: string, text: string): void => writeFileSync(join(root, path), text);
  git("init", "--quiet", "--initial-branch", "main");
  for (const name of names) write(name, `${name}\n`);
  write("secret.pem", "key\n");
  git("add", "--all");
  git("commit", "--quiet", "--message", "first");
  git("switch", "--quiet", "--create", "other");
  for (const name of names) write(name, "other\n");
  git("commit", "--quiet", "--all", "--message", "other");
  git("switch", "--quiet", "main");
  return {
    root,
    elsewhere,
    git,
    write,
    careless: (...args) =>
      void spawnSync("git", args, { cwd: root, env: { ...process.env, PAGER: "cat" }, timeout: 20_000 }),
    ran() {
      const found = readdirSync(canaries);
      // Also one that could write nowhere but here.
      for (const [name, path] of [
        ["inside", join(root, ".git", "ran")],
        ["inside", join(root, "ran")],
      ] as const) {
        if (existsSync(path)) found.push(name);
        rmSync(path, { force: true });
      }
      for (const name of found) rmSync(join(canaries, name), { force: true });
      return found.toSorted();
    },
  };
}

/** Files of the first commit, each with its name as its text. */
export const names = ["clean.txt", "process.txt", "odd.txt", "text.txt", "external.txt", "plain.txt"];

/** A program, as a shell command, that leaves its name wherever it can. */
function canary({ root }: HostileRepository, name: string): string {
  return `for f in '${join(root, "..", "canaries", name)}' '${root}/.git/ran' '${root}/ran'; do touch "$f" 2>/dev/null; done; cat`;
}

/** Every setting, attribute and hook that starts a program, at once. */
export function everyProgram(): HostileRepository {
  const repository = hostileRepository();
  const { root, git } = repository;
  const set = (name: string, value: string) => git("config", name, value);
  const program = (name: string) => canary(repository, name);
  const script = (name: string): string => {
    const path = join(root, ".git", `program-${name}`);
    writeFileSync(path, `#!/bin/sh\n${program(name)} >/dev/null </dev/null\n`);
    chmodSync(path, 0o755);
    return path;
  };
  writeFileSync(
    join(root, ".git", "info", "attributes"),
    [
      "clean.txt filter=x diff=x merge=x",
      "process.txt filter=y",
      "odd.txt filter=a=b.c",
      "text.txt diff=t",
      "external.txt diff=e",
    ].join("\n"),
  );
  set("filter.x.clean", program("clean"));
  set("filter.x.smudge", program("smudge"));
  set("filter.x.required", "true");
  set("filter.y.process", script("process"));
  set("filter.y.required", "true");
  set("filter.a=b.c.clean", program("odd-clean"));
  set("filter.a=b.c.smudge", program("odd-smudge"));
  set("diff.t.textconv", script("textconv"));
  set("diff.e.command", script("driver"));
  set("diff.external", script("external"));
  set("merge.x.driver", program("merge"));
  set("core.fsmonitor", script("fsmonitor"));
  set("core.editor", script("editor"));
  set("core.pager", script("pager"));
  set("pager.diff", script("pager"));
  set("core.sshCommand", script("ssh"));
  set("core.alternateRefsCommand", script("alternates"));
  set("credential.helper", `!${program("credential")}`);
  set("gpg.program", script("gpg"));
  set("log.showSignature", "true");
  set("commit.gpgSign", "true");
  set("submodule.recurse", "true");
  set("status.submoduleSummary", "true");
  set("diff.submodule", "diff");
  set("maintenance.auto", "true");
  set("gc.auto", "1");
  mkdirSync(join(root, ".git", "evil-hooks"));
  set("core.hooksPath", join(root, ".git", "evil-hooks"));
  for (const hook of ["post-checkout", "post-index-change", "pre-commit", "reference-transaction", "post-commit"]) {
    for (const directory of ["evil-hooks", "hooks"]) {
      mkdirSync(join(root, ".git", directory), { recursive: true });
      const path = join(root, ".git", directory, hook);
      writeFileSync(path, `#!/bin/sh\n${program(hook)} >/dev/null </dev/null\n`);
      chmodSync(path, 0o755);
    }
  }
  addSignature(repository);
  for (const name of names) appendFileSync(join(root, name), "changed\n");
  return repository;
}

/** The newest commit becomes one that says it was signed. */
function addSignature({ git, root }: HostileRepository): void {
  const commit = git("cat-file", "commit", "HEAD");
  const signed = commit.replace(
    "\n\n",
    "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n",
  );
  const id = execFileSync("git", ["hash-object", "-t", "commit", "-w", "--stdin"], { cwd: root, input: signed });
  git("update-ref", "refs/heads/main", id.toString().trim());
}

/** The recipe: a repository in the repository, with a filter of its own, known as a submodule without being one. */
export function nestedRepository(): HostileRepository {
  const repository = hostileRepository();
  const { root, git } = repository;
  const nested = join(root, "v");
  execFileSync("git", ["init", "--quiet", nested]);
  const within = (...args: readonly string[]) => git("-C", nested, ...args);
  writeFileSync(join(nested, "f"), "v\n");
  within("add", "f");
  within("commit", "--quiet", "--message", "x");
  writeFileSync(join(nested, ".git", "info", "attributes"), "* filter=x\n");
  within("config", "filter.x.clean", canary(repository, "nested-clean"));
  within("config", "core.fsmonitor", `${canary(repository, "nested-fsmonitor")} #`);
  writeFileSync(join(nested, "f"), "w\n");
  repository.write(".gitmodules", '[submodule "v"]\n\tpath = v\n\turl = ./v\n\tignore = none\n');
  git("config", "submodule.v.url", "./v");
  git("config", "submodule.v.ignore", "none");
  git("config", "diff.submodule", "diff");
  git("config", "status.submoduleSummary", "true");
  git("add", ".gitmodules");
  git("update-index", "--add", "--cacheinfo", `160000,${within("rev-parse", "HEAD").trim()},v`);
  git("commit", "--quiet", "--message", "s");
  repository.ran();
  return repository;
}

/** A clone that lacks an object, and says where to get it. */
export function partialClone(): HostileRepository {
  const repository = hostileRepository();
  const { root, git, elsewhere } = repository;
  const blob = git("rev-parse", "HEAD:plain.txt").trim();
  rmSync(join(root, ".git", "objects", blob.slice(0, 2), blob.slice(2)));
  git("config", "core.repositoryFormatVersion", "1");
  git("config", "extensions.partialClone", "origin");
  git("config", "remote.origin.promisor", "true");
  git("config", "remote.origin.url", elsewhere);
  git("config", "remote.origin.uploadpack", `${canary(repository, "uploadpack")} </dev/null #`);
  git("config", "protocol.allow", "always");
  git("config", "protocol.ext.allow", "always");
  appendFileSync(join(root, "plain.txt"), "changed\n");
  return repository;
}

/** Its data lies in another repository, whose settings hold. */
export function borrowedSettings(): HostileRepository {
  const repository = hostileRepository();
  const { root, elsewhere } = repository;
  const other = join(elsewhere, "data");
  execFileSync("git", ["clone", "--quiet", "--bare", root, other]);
  execFileSync("git", ["-C", other, "config", "core.bare", "false"]);
  execFileSync("git", ["-C", other, "config", "filter.x.clean", canary(repository, "commondir-clean")]);
  writeFileSync(join(other, "info", "attributes"), "* filter=x\n");
  writeFileSync(join(root, ".git", "commondir"), `${other}\n`);
  appendFileSync(join(root, "plain.txt"), "changed\n");
  return repository;
}
