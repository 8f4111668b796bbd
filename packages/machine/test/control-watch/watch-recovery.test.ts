import { spawnSync } from "node:child_process";
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { describe, expect, test } from "vitest";
import { ControlWatch } from "#control-watch/control-watch";
import { describeRecovered } from "#control-watch/put-back/put-back";
import { readWatchJournal, type WatchJournal } from "#control-watch/state/watch-journal";
import { controlProject } from "./control-project.ts";
import { treeOf } from "./watched-workspace.ts";

describe("what a killed server leaves", () => {
  /** Begins a command in a process of its own, changes files as the command would, and dies. */
  function killed(root: string, stateDir: string, does: string): void {
    leave(root, stateDir, does, 'process.kill(process.pid, "SIGKILL")');
  }

  function leave(root: string, stateDir: string, does: string, last: string): void {
    const script = `
      import { ControlWatch } from "#control-watch/control-watch";
      import { nothingAgreed } from "@gennai/governance/policies/files/agreed-control";
      import { execFileSync } from "node:child_process";
      const { watch } = ControlWatch.open(${JSON.stringify({ stateDir, home: "/nowhere" })});
      const run = watch.begin({ workspaceRoot: ${JSON.stringify(root)}, agreed: nothingAgreed, untouchable: [], timeoutMs: 60000 });
      execFileSync("/bin/sh", ["-c", ${JSON.stringify(does)}], { cwd: ${JSON.stringify(root)} });
      ${last};`;
    const { status, signal, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd: import.meta.dirname,
      encoding: "utf8",
    });
    expect([status, signal], stderr).toContain(last.includes("SIGKILL") ? "SIGKILL" : 0);
  }

  function changeJournal(
    { root, stateDir }: { readonly root: string; readonly stateDir: string },
    change: (journal: WatchJournal) => unknown,
  ): void {
    const parent = join(stateDir, "control-watch");
    for (const name of readdirSync(parent)) {
      for (const file of readdirSync(join(parent, name)).filter((each) => each.endsWith(".json"))) {
        const path = join(parent, name, file);
        const journal = readWatchJournal(path);
        if (journal.workspaceRoot === root) writeFileSync(path, JSON.stringify(change(journal)));
      }
    }
  }

  test("is put back after a restart of the machine, which numbers devices anew", async () => {
    const { root, stateDir, control, write } = await controlProject();
    write(".envrc", "#".repeat(20 * 1024 * 1024));
    const before = control();
    killed(root, stateDir, "echo evil > AGENTS.md; echo evil > .git/hooks/pre-push");
    changeJournal({ root, stateDir }, (journal) => ({
      ...journal,
      places: journal.places.map(({ identity, ...place }) => ({
        ...place,
        identity: { ...identity, device: identity.device + 1, boot: "another" },
      })),
    }));
    const { watch, recovered } = ControlWatch.open({ stateDir, home: "/nowhere" });
    expect(control()).toEqual(before);
    expect(recovered.flatMap(({ files }) => files).map(({ path, what }) => [path, what])).toEqual([
      [".git/hooks/pre-push", "removed"],
      ["AGENTS.md", "restored"],
    ]);
    watch[Symbol.dispose]();
  });

  test("is put back by the next start, once", async () => {
    const { root, stateDir, control } = await controlProject();
    const before = control();
    killed(root, stateDir, "echo evil > AGENTS.md; rm -r sub; mkdir -p v/.git; echo evil > .envrc");
    const { watch, recovered } = ControlWatch.open({ stateDir, home: "/nowhere" });
    expect(control()).toEqual(before);
    expect(recovered.map(({ workspaceRoot }) => workspaceRoot)).toEqual([root]);
    watch[Symbol.dispose]();
    const again = ControlWatch.open({ stateDir, home: "/nowhere" });
    expect(again.recovered).toEqual([]);
    again.watch[Symbol.dispose]();
  });

  test.each<[string, (own: string) => string[]]>([
    ["kept bytes", (own) => readdirSync(join(own, "bytes")).map((name) => join(own, "bytes", name))],
    ["its journal", (own) => readdirSync(own).flatMap((name) => (name.endsWith(".json") ? [join(own, name)] : []))],
  ])("with %s damaged keeps nobody from starting, is said once and kept", async (_what, damaged) => {
    const { root, stateDir } = await controlProject();
    killed(root, stateDir, "echo evil > AGENTS.md; echo '{}' > package.json");
    const parent = join(stateDir, "control-watch");
    const left = readdirSync(parent).filter((name) => !name.startsWith(`${process.pid}-`));
    expect(left).toHaveLength(1);
    for (const path of left.flatMap((name) => damaged(join(parent, name)))) truncateSync(path, 1);
    const { watch, recovered } = ControlWatch.open({ stateDir, home: "/nowhere" });
    const files = recovered.flatMap((each) => each.files);
    const said = recovered.map(describeRecovered).join("\n");
    expect(said).toMatch(
      /^A command in .* was cut off: COULD NOT BE PUT BACK, so look at it before you go on: [^:]*damaged[^:]*\. How it was before is kept in (\/.*)\.$/,
    );
    const knownIn = / kept in (\/.*)\.$/.exec(said)?.[1] ?? "";
    expect(readdirSync(knownIn)).toEqual(expect.arrayContaining(["bytes"]));
    expect(files).toEqual(expect.arrayContaining([expect.objectContaining({ what: "failed" })]));
    expect(readFileSync(join(root, "AGENTS.md"), "utf8")).toBe("evil\n");
    expect(readdirSync(join(stateDir, "put-back/failed"))).toHaveLength(1);
    watch[Symbol.dispose]();
    const again = ControlWatch.open({ stateDir, home: "/nowhere" });
    expect(again.recovered).toEqual([]);
    again.watch[Symbol.dispose]();
  });

  test("in order, but with something not put back, is tried once more by the next start", async () => {
    const { root, stateDir } = await controlProject();
    const does = `echo evil > AGENTS.md; mv ${root} ${root}.moved`;
    leave(root, stateDir, does, "run.end(); watch[Symbol.dispose]()");
    renameSync(`${root}.moved`, root);
    const { watch, recovered } = ControlWatch.open({ stateDir, home: "/nowhere" });
    expect(readFileSync(join(root, "AGENTS.md"), "utf8")).toBe("Be kind.\n");
    expect(recovered).toMatchObject([{ workspaceRoot: root, files: [{ path: "AGENTS.md", what: "restored" }] }]);
    watch[Symbol.dispose]();
  });

  test("what the user changes later than the command could have is left", async () => {
    const { root, stateDir, control } = await controlProject();
    killed(root, stateDir, "echo evil > .envrc");
    // As if the command had been started, and had to be over, long ago.
    changeJournal({ root, stateDir }, (journal) => ({ ...journal, deadline: Date.now() - 60_000 }));
    writeFileSync(join(root, "AGENTS.md"), "The user's.\n");
    const { watch, recovered } = ControlWatch.open({ stateDir, home: "/nowhere" });
    expect(recovered).toEqual([]);
    expect(control()["AGENTS.md"]).toBe("644 The user's.\n");
    watch[Symbol.dispose]();
  });

  test.each<[string, (root: string, elsewhere: string) => void]>([
    ["a link to another one", (root, elsewhere) => symlinkSync(elsewhere, root)],
    ["another one", (root, elsewhere) => renameSync(elsewhere, root)],
    ["nothing", () => undefined],
  ])("where %s stands in the workspace's place, nothing is put back, and that is said", async (_name, put) => {
    const { root, stateDir } = await controlProject();
    await using other = await temporaryDirectory({ "its/AGENTS.md": "Theirs.\n", "its/sub/.envrc": "theirs\n" });
    const elsewhere = other.path("its");
    killed(root, stateDir, "echo evil > AGENTS.md");
    renameSync(root, `${root}.moved`);
    put(root, elsewhere);
    const before = treeOf(existsSync(elsewhere) ? elsewhere : root);
    const { watch, recovered } = ControlWatch.open({ stateDir, home: "/nowhere" });
    expect(treeOf(existsSync(elsewhere) ? elsewhere : root)).toEqual(before);
    expect(readFileSync(join(`${root}.moved`, "AGENTS.md"), "utf8")).toBe("evil\n");
    expect(recovered).toMatchObject([{ workspaceRoot: root, files: [{ path: root, what: "failed" }] }]);
    expect(readdirSync(join(stateDir, "put-back"))).toEqual(["failed"]);
    watch[Symbol.dispose]();
    rmSync(root, { recursive: true, force: true });
    renameSync(`${root}.moved`, root);
  });
});
