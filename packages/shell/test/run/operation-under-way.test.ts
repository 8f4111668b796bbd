import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import { type TemporaryRepository, temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { OpenWorkspace } from "#open-workspace";
import { StagedTree } from "#proposal/staged-tree";
import { removeOpenStages } from "#stages/open-stages";
import { recoverChanges } from "#stages/recover-changes";
import { stagingMachine } from "../staging-machine.ts";
import { twoBranches } from "./two-branches.ts";

const git = "git -c user.name=a -c user.email=a@example.com";
const merge = `${git} merge -q other || true`;
const go = `sed -i '/^[<=>]/d' f; git add f; ${git} commit -qm merged`;

/** Runs commands of one session; all that they leave is kept. */
function runsOf(machine: Awaited<ReturnType<typeof stagingMachine>>, root: string) {
  return async (text: string) => {
    const staged = await machine.run(root, text, false, "s");
    await staged.keep(new Set());
    return staged;
  };
}

describe.each(["overlay", "copy"])("staged by %s", (stagedBy) => {
  beforeEach(() => vi.stubEnv("GENNAI_STAGED_BY", stagedBy));

  test.each([
    { name: "commits another file", act: ["commit"], moved: "HEAD", conflict: false },
    { name: "adds another file to the index", act: ["add"], moved: "git's index", conflict: false },
    { name: "saves a file that the merge changed", act: ["save"], moved: "f", conflict: true },
  ])("nothing of a merge is kept when the user $name meanwhile, and it becomes a proposal", async ({ act, ...row }) => {
    await using machine = await stagingMachine();
    await using repository = await twoBranches();
    const run = runsOf(machine, repository.root);
    const before = await seen(repository);
    expect((await run(merge)).operation).toBe("a merge");
    await run("sed -i s,work,agent, f; echo notes > new");
    expect(await seen(repository)).toEqual(before);
    if (act[0] === "save") await repository.write("f", "1\nthe user's\n3\n");
    else await repository.write("h", "the user's\n");
    if (act[0] !== "save") await repository.git("add", "h");
    if (act[0] === "commit") await repository.git("commit", "-qm", "the user's");
    const theirs = await seen(repository);
    await expect(run(go)).rejects.toMatchObject({ code: "stale_file", message: expect.stringContaining(row.moved) });
    expect(await seen(repository)).toEqual(theirs);
    const tree = StagedTree.open(machine.stateDir, "s", { path: repository.root });
    const text = (path: string) => tree.content(tree.files.get(path)?.staged?.sha256 ?? "").toString();
    expect(text("f")).toMatch(/^1\n<<<<<<< HEAD\nagent\n=======\nother\n>>>>>>> other\n3\n$/);
    expect(text("new")).toBe("notes\n");
    expect(tree.files.get("f")?.base === null).toBe(row.conflict);
    // It begins again, on what the user has now.
    if (act[0] !== "commit") return;
    await run(merge);
    await run(go);
    expect(await repository.git("show", "HEAD:h")).toBe("the user's");
    expect((await repository.git("rev-list", "--parents", "-1", "HEAD")).split(" ")).toHaveLength(3);
  });

  test.each([
    { name: "too many files", more: "seq 501 | xargs -I{} sh -c 'echo {} > n{}'", path: "n501", mode: "100644" },
    { name: "a link", more: "ln -s f link", path: "link", mode: "120000" },
  ])("a merge that the user overtakes is on a branch, if it holds $name", async ({ more, path, mode }) => {
    await using machine = await stagingMachine();
    await using repository = await twoBranches();
    await repository.write(".gitignore", "built\n");
    await repository.git("branch", "ai-agent/a-merge-given-up");
    const run = runsOf(machine, repository.root);
    await run(`${merge}; sed -i s,work,agent, f; ${more}; echo built > built`);
    await repository.write("f", "1\nthe user's\n3\n");
    const theirs = await seen(repository);
    const end = await run("echo not run");
    const branch = "ai-agent/a-merge-given-up-2";
    expect(end.run).toMatchObject({
      exitCode: 1,
      output: expect.stringMatching(`^The user changed f .*\\n?.* ${branch}\\.`),
    });
    const { refs, ...rest } = await seen(repository);
    const [, id] = (await repository.git("rev-list", "--parents", "-1", branch)).split(" ");
    expect(refs.split("\n").filter((line) => !theirs.refs.includes(line))).toEqual([expect.stringContaining(branch)]);
    expect(rest).toEqual({ ...theirs, refs: undefined });
    expect(id).toBe(await repository.git("rev-parse", "work"));
    expect(await repository.git("rev-parse", `${branch}^2`)).toBe(await repository.git("rev-parse", "other"));
    expect(await repository.git("show", `${branch}:f`)).toContain("agent");
    expect(await repository.git("ls-tree", branch, path)).toContain(mode);
    expect(await repository.git("ls-tree", branch, "built")).toBe("");
    await repository.git("fsck", "--strict");
    // It begins again; what git ignores is there.
    expect((await run("git status | head -1; cat built f")).run.output).toBe(
      "On branch work\nbuilt\n1\nthe user's\n3\n",
    );
    expect(leftIn(machine.stateDir)).toEqual([]);
  });

  test("what no proposal can hold stays, where only the commit finds that the user made the same file", async () => {
    await using machine = await stagingMachine();
    await using repository = await twoBranches();
    const run = runsOf(machine, repository.root);
    await run(`${merge}; ln -s f link; echo new > new`);
    await repository.write("link", "the user's\n");
    await expect(run(go)).rejects.toMatchObject({ code: "stale_file", message: expect.stringContaining("link") });
    expect(leftIn(machine.stateDir)).toHaveLength(1);
    const { run: end } = await run("true");
    expect(end.output).toMatch(/^The user changed link meanwhile\..* ai-agent\/a-merge-given-up\.\n/);
    expect(await repository.git("log", "-2", "--format=%s", "ai-agent/a-merge-given-up")).toContain("merged");
    expect(await repository.git("status", "--porcelain")).toBe("?? link");
  });

  test("a merge goes on while the user saves other files and looks at the repository", async () => {
    await using machine = await stagingMachine();
    await using repository = await twoBranches();
    const run = runsOf(machine, repository.root);
    await run(merge);
    await repository.write("g", "the user's\n");
    await repository.write("new", "the user's\n");
    // Git writes its index anew.
    await repository.git("update-index", "--force-write-index");
    const status = "M g\n?? new";
    expect((await repository.git("status", "--porcelain")).trim()).toBe(status);
    expect((await run("cat g new")).run.output).toBe("the user's\nthe user's\n");
    const end = await run(go);
    expect(end.operation).toBeUndefined();
    expect((await repository.git("status", "--porcelain")).trim()).toBe(status);
    expect((await repository.git("rev-list", "--parents", "-1", "HEAD")).split(" ")).toHaveLength(3);
    expect(leftIn(machine.stateDir)).toEqual([]);
  });

  test("file tools see and change what is under way, and the workspace once it has ended", async () => {
    await using machine = await stagingMachine();
    await using repository = await twoBranches();
    const run = runsOf(machine, repository.root);
    const { stages, stateDir } = machine;
    const zeroAccess = { sha256: "", covers: () => false };
    const below = openLocalWorkspace(repository.root, { stateDir });
    const workspace = new OpenWorkspace(below, { stages, zeroAccess, workspaceRoot: repository.root, session: "s" });
    const signal = new AbortController().signal;
    const at = (path: string) => workspace.resolve(path);
    const text = async (path: string) =>
      Buffer.from((await workspace.read(await at(path), { maxBytes: 1000 })).bytes).toString();
    const find = {
      pattern: "<<<|made",
      caseSensitive: true,
      output: "files",
      context: 0,
      limit: 9,
      exclude: [],
    } as const;
    const lines = async () => (await workspace.search(find, await at("."), { signal })).lines;
    expect(await lines()).toEqual([]);
    await run(`${merge}; rm -r d; mkdir d; echo made > d/made`);
    const before = await seen(repository);
    expect(await lines()).toEqual(["d/made", "f"]);
    expect(await workspace.stat(await at("d/h"))).toBeUndefined();
    expect((await workspace.list(await at("d"), { ignore: [], limit: 9 })).entries).toMatchObject([{ name: "made" }]);
    expect((await workspace.glob("**/*", await at("d"), { limit: 9, signal })).paths).toEqual(["d/made"]);
    expect(await text("f")).toContain("<<<<<<<");
    const { sha256 } = await workspace.read(await at("f"), { maxBytes: 1000 });
    const bytes = Buffer.from("1\nboth\n3\n");
    const changes = [
      { operation: "update", path: await at("f"), bytes, baseSha256: sha256 },
      { operation: "create", path: await at("e/deep"), bytes },
      {
        operation: "delete",
        path: await at("d/made"),
        baseSha256: (await workspace.read(await at("d/made"), { maxBytes: 9 })).sha256,
      },
    ] as const;
    await expect(workspace.apply([...changes, { ...changes[0], baseSha256: "" }])).rejects.toMatchObject({
      code: "stale_file",
    });
    expect(await text("f")).toContain("<<<<<<<");
    await workspace.apply(changes);
    expect(await text("f")).toBe("1\nboth\n3\n");
    expect(await seen(repository)).toEqual(before);
    await run(`git add -A; ${git} commit -qm merged`);
    expect(await repository.git("show", "--name-only", "--format=", "-m", "--first-parent", "HEAD")).toBe(
      "d/h\ne/deep\nf",
    );
    expect(await text("f")).toBe(await repository.read("f"));
  });

  test.each([
    { state: "loose", prepare: [] },
    { state: "packed", prepare: ["pack-refs", "--all"] },
  ])(
    "a visit to another branch of the user's stays in the session, until it commits there: $state",
    async ({ prepare }) => {
      await using machine = await stagingMachine();
      await using repository = await twoBranches();
      if (prepare.length > 0) await repository.git(...prepare);
      const own = ["work"];
      const run = async (text: string) => {
        const isOwn = (name: string) => own.includes(name);
        const staged = await machine.run(repository.root, text, false, "s", [], undefined, undefined, isOwn);
        await staged.keep(new Set());
        return staged;
      };
      const before = await seen(repository);
      expect((await run("git switch -q other; echo o >> g")).operation).toBe("a visit to other");
      expect((await run("git branch --show-current; cat f")).run.output).toBe("other\n1\nother\n3\n");
      expect(await seen(repository)).toEqual(before);
      const back = await run("git switch -q -; echo n > n");
      expect(back.operation).toBeUndefined();
      expect(back.effects).toMatchObject([{ path: { raw: "g" } }, { path: { raw: "n" } }]);
      expect(await repository.git("status", "--porcelain")).toBe(" M g\n?? n");
      await run("git switch -q main");
      expect(await repository.git("branch", "--show-current")).toBe("work");
      const there = await run(`${git} commit -qam on-main`);
      expect(there.effects).toContainEqual(expect.objectContaining({ what: "ref", name: "refs/heads/main" }));
      expect(await repository.git("branch", "--show-current")).toBe("main");
      expect((await run("git switch -q work")).operation).toBeUndefined();
      expect(await repository.git("branch", "--show-current")).toBe("work");
      expect((await run("git switch -qc new")).operation).toBeUndefined();
      expect(leftIn(machine.stateDir)).toEqual([]);
    },
  );

  test("what is under way survives a kill, and goes with its session", async () => {
    await using state = await temporaryDirectory();
    await using home = await temporaryDirectory();
    await using repository = await twoBranches();
    const program = fileURLToPath(new URL("../killed-run.ts", import.meta.url));
    const killed = (text: string) =>
      spawnSync(process.execPath, [program, repository.root, state.root, home.root, text], { encoding: "utf8" });
    const before = await seen(repository);
    expect(killed(`${merge}; echo first > first`)).toMatchObject({ signal: "SIGKILL", stderr: "" });
    expect(await recoverChanges(state.root)).not.toContainEqual(expect.objectContaining({ state: "stuck" }));
    expect(killed("echo second >> first")).toMatchObject({ signal: "SIGKILL", stderr: "" });
    expect(await seen(repository)).toEqual(before);
    await recoverChanges(state.root);
    await using machine = await stagingMachine(state.root, {}, process.env["PATH"], home.root);
    const elsewhere = await machine.run(repository.root, "ls", false, "other");
    expect(elsewhere.run.output).not.toContain("first");
    await elsewhere.drop();
    const end = await machine.run(repository.root, `cat first; ${go}`, false, "s");
    expect(end.run.output).toBe("first\nsecond\n");
    await end.keep(new Set());
    expect((await repository.git("rev-list", "--parents", "-1", "HEAD")).split(" ")).toHaveLength(3);
    expect(await repository.git("status", "--porcelain")).toBe("?? first");
    await (await machine.run(repository.root, "git checkout -q HEAD~1", false, "s")).keep(new Set());
    await removeOpenStages(machine.stateDir, ({ session }) => session === "other");
    expect(leftIn(machine.stateDir)).toHaveLength(1);
    await removeOpenStages(machine.stateDir, ({ session }) => session === "s");
    expect(leftIn(machine.stateDir)).toEqual([]);
  });

  test("a command that was ended leaves what is under way, and a refusal ends all of it", async () => {
    await using machine = await stagingMachine();
    await using repository = await twoBranches();
    await (await machine.run(repository.root, merge, false, "s")).keep(new Set());
    const ended = await machine.run(repository.root, `${go}; kill -9 $$`, false, "s");
    await ended.drop();
    const said = await machine.run(repository.root, "git log -1 --format=%s", false, "s");
    expect(said.run.output).toBe("merged\n");
    await said.drop({ forGood: true });
    expect(await repository.git("log", "-1", "--format=%s")).toBe("work");
    expect(leftIn(machine.stateDir)).toEqual([]);
  });

  test("a yes to the last command is none to what the ones before it did", async () => {
    await using machine = await stagingMachine();
    await using repository = await twoBranches();
    const hooks = "git config core.hooksPath h";
    const alone = await machine.run(repository.root, hooks, true, "s");
    expect(alone.effects).toMatchObject([{ what: "control", name: ".git/config", agreed: true }]);
    await alone.drop();
    await (await machine.run(repository.root, `${merge}; ${hooks}`, false, "s")).keep(new Set());
    const last = await machine.run(repository.root, "git config a.b c; git merge --abort", true, "s");
    expect(last.effects).toMatchObject([{ what: "control", name: ".git/config", agreed: false }]);
    await last.drop({ forGood: true });
  });

  /** Records of the stages that are open. */
});

function leftIn(stateDir: string): readonly string[] {
  return readdirSync(join(stateDir, "stages")).filter((name) => name.endsWith(".open.json"));
}

async function seen(repository: TemporaryRepository) {
  return {
    refs: await repository.git("for-each-ref"),
    index: await repository.git("ls-files", "-s"),
    status: await repository.git("status", "-uall"),
    file: await repository.read("f"),
  };
}
