import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { nothingAgreed } from "@gennai/governance/policies/files/agreed-control";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { withoutRoot } from "@gennai/testkit/without-root";
import { expect, test } from "vitest";
import { ControlWatch } from "#control-watch/control-watch";
import { describePutBack, describeRecovered } from "#control-watch/put-back/put-back";
import { keptAside } from "#control-watch/put-back/put-back-copies";
import { controlProject } from "../control-project.ts";
import { treeOf } from "../watched-workspace.ts";

test("modes of directories keep nobody from putting back", async () => {
  await using directory = await temporaryDirectory();
  const [root, stateDir] = [join(directory.root, "w"), join(directory.root, "state")];
  for (const path of ["w/sub", "w/own", "state"]) mkdirSync(join(directory.root, path), { recursive: true });
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const path of ["AGENTS.md", "sub/AGENTS.md", "own/AGENTS.md"]) write(path, "good\n");
  await withoutRoot(directory.root, async () => {
    const { watch } = ControlWatch.open({ stateDir, home: homedir() });
    using _watch = watch;
    chmodSync(join(root, "own"), 0);
    const begun = watch.begin({ workspaceRoot: root, agreed: nothingAgreed, untouchable: [], timeoutMs: 30_000 });
    for (const path of ["AGENTS.md", "sub/AGENTS.md", "v/.git/config", "u/AGENTS.md", "s/x/.vscode/tasks.json"])
      write(path, "evil\n");
    for (const path of ["v/.git", "v", "u", "sub"]) chmodSync(join(root, path), 0o555);
    chmodSync(join(root, "s/x"), 0);
    chmodSync(join(root, "s"), 0o311);
    chmodSync(root, 0o555);
    const { files } = begun.end();
    expect(files.filter(({ what }) => what === "failed")).toEqual([]);
    expect(statSync(join(root, "own")).mode & 0o777).toBe(0);
    chmodSync(join(root, "own"), 0o755);
    expect(treeOf(root)).toEqual({
      "AGENTS.md": "644 good\n",
      "own/AGENTS.md": "644 good\n",
      "sub/AGENTS.md": "644 good\n",
    });
  });
});

test("what was put back lies aside, so that nothing of the user's is lost", async () => {
  const { run } = await controlProject();
  const { notes } = await run("npm test", "echo mine > AGENTS.md; mkdir -p v/.git; echo x > v/.git/HEAD");
  const aside = /lies in (\/.*)\.\]/.exec(notes.join("\n"))?.[1] ?? "";
  expect(treeOf(aside)).toMatchObject({ "AGENTS.md": "644 mine\n", "v/.git/HEAD": "644 x\n" });
});

test("a command that puts a link in the workspace's place has nothing put back behind it", async () => {
  await using other = await temporaryDirectory({ "AGENTS.md": "Theirs.\n", "sub/.envrc": "theirs\n" });
  const { root, run } = await controlProject({ sandboxed: false });
  const before = treeOf(other.root);
  const { putBack } = await run(
    "npm test",
    `echo evil > .envrc; mv ${root} ${root}.moved; ln -s ${other.root} ${root}`,
  );
  expect(treeOf(other.root)).toEqual(before);
  expect(putBack.files).toMatchObject([{ path: root, what: "failed" }]);
  rmSync(root);
  renameSync(`${root}.moved`, root);
});

test("what lies aside goes when it is old, or too much", async () => {
  const { root, stateDir, run } = await controlProject({ sandboxed: false });
  const { putBack } = await run("npm test", "echo evil > AGENTS.md");
  const directory = dirname(putBack.keptIn);
  const now = Date.now();
  const old = `${now - keptAside.days * 86_400_000 - 1}-1`;
  const others = Array.from({ length: keptAside.commands + 5 }, (_each, index) => `${now - 1_000 - index}-1`);
  for (const name of [old, ...others]) mkdirSync(join(directory, name, "closed"), { recursive: true });
  chmodSync(join(directory, old, "closed"), 0);
  await run("npm test", "echo evil > .envrc");
  const kept = readdirSync(directory);
  expect(kept).toHaveLength(keptAside.commands);
  expect(kept).not.toContain(old);
  expect(existsSync(join(putBack.keptIn, "AGENTS.md"))).toBe(true);
  mkdirSync(join(directory, old));
  ControlWatch.open({ stateDir, home: "/nowhere" }).watch[Symbol.dispose]();
  expect(existsSync(join(directory, old))).toBe(false);
  expect(existsSync(root)).toBe(true);
});

test.each([
  ["added to", "echo more >> .git/hooks/pre-push"],
  ["replaced", "echo evil > x; chmod 755 x; mv x .git/hooks/pre-push"],
  [
    "given its old time",
    "touch -r .git/hooks/pre-push t; echo evil | dd of=.git/hooks/pre-push conv=notrunc; touch -r t .git/hooks/pre-push",
  ],
  ["deleted", "rm .git/hooks/pre-push"],
])("a large hook that was %s is as before", async (_how, does) => {
  const { root, run } = await controlProject({ sandboxed: false });
  const hook = join(root, ".git/hooks/pre-push");
  const large = Buffer.alloc(20 * 1024 * 1024, "#");
  writeFileSync(hook, large, { mode: 0o755 });
  expect((await run("npm test", "true")).putBack.files).toEqual([]);
  const { putBack } = await run("npm test", does);
  expect(Buffer.compare(readFileSync(hook), large)).toBe(0);
  expect(statSync(hook).mode & 0o777).toBe(0o755);
  expect(putBack.files).toMatchObject([{ path: ".git/hooks/pre-push", what: "restored" }]);
  if (!does.startsWith("rm")) expect(existsSync(join(putBack.keptIn, ".git/hooks/pre-push"))).toBe(true);
});

test("a pipe among control files is no other one because somebody wrote into it", async () => {
  const { root, run } = await controlProject({ sandboxed: false });
  execFileSync("mkfifo", [join(root, ".envrc")]);
  const { putBack } = await run("npm test", "cat .envrc & echo x > .envrc; wait");
  expect(putBack.files).toEqual([]);
});

test("a tree that cannot be looked through lets no command run", async () => {
  const { root, run } = await controlProject({ sandboxed: false });
  mkdirSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff])]));
  await expect(run("npm test", "touch ran")).rejects.toMatchObject({ code: "workspace_not_watched" });
  expect(existsSync(join(root, "ran"))).toBe(false);
});

test("a command that makes one has all else put back, and is told about it", async () => {
  const { root, run } = await controlProject({ sandboxed: false });
  const { putBack } = await run("npm test", "echo evil > .envrc; mkdir $'\\xff'");
  expect(putBack.files).toEqual(expect.arrayContaining([expect.objectContaining({ what: "failed" })]));
  expect(existsSync(join(root, ".envrc"))).toBe(false);
});

test("a link that stood in the workspace is followed by nobody", async () => {
  await using outside = await temporaryDirectory({ "tasks.json": "theirs\n" });
  const { root, run } = await controlProject({ sandboxed: false });
  await run("npm test", `rm -r sub; ln -s ${outside.root} sub; mkdir -p ${outside.root}/.vscode`);
  expect(readFileSync(join(root, "sub/.vscode/tasks.json"), "utf8")).toBe("{}\n");
  expect(readdirSync(outside.root).sort()).toEqual([".vscode", "tasks.json"]);
  expect(readdirSync(join(outside.root, ".vscode"))).toEqual([]);
});

test("what was put back and what was not is said apart, with where things lie", () => {
  const restored = { path: "AGENTS.md", what: "restored", reason: "instructions that agents follow" } as const;
  const failed = { path: ".envrc", what: "failed", reason: "it stays where it is" } as const;
  const notBack = "COULD NOT BE PUT BACK, so look at it before you go on: .envrc (it stays where it is).";
  expect(describeRecovered({ workspaceRoot: "/w", files: [failed], keptIn: "", knownIn: "/known" })).toBe(
    `A command in /w was cut off: ${notBack} How it was before is kept in /known.`,
  );
  expect(describePutBack({ files: [failed, restored], keptIn: "/aside" })).toBe(
    `put back, because nobody agreed to it: AGENTS.md (as before: instructions that agents follow). ${notBack} What the command left there lies in /aside.`,
  );
});
