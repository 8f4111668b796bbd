import { deepEqual, equal, match, ok } from "node:assert/strict";
import { chownSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { probeStage, type StageSupport } from "#mount/probe-stage";
import type { Scenarios } from "../run-scenarios.ts";
import { rootAt, StageFixture, shareWithGroup } from "../stage-fixture.ts";
import { inNamespaces, type Namespaces } from "./in-namespaces.ts";

const files = { "a.txt": "a\n", "src/b.txt": "b\n" };

function probeAfter(fixture: StageFixture, commands: string, options: Namespaces = {}): readonly StageSupport[] {
  return inNamespaces<StageSupport>(fixture, new URL("probe-program.ts", import.meta.url), commands, options);
}

/** A filter for seccomp that refuses `unshare` and lets all else through, as those of container engines do. */
function filterOfUnshare(): Buffer {
  const number = process.arch === "x64" ? 272 : 97;
  const steps = [
    [0x20, 0, 0, 0],
    [0x15, 0, 1, number],
    [0x06, 0, 0, 0x0005_0001],
    [0x06, 0, 0, 0x7fff_0000],
  ] as const;
  return Buffer.concat(
    steps.map(([code, yes, no, value]) => {
      const step = Buffer.alloc(8);
      step.writeUInt16LE(code, 0);
      step.writeUInt8(yes, 2);
      step.writeUInt8(no, 3);
      step.writeUInt32LE(value, 4);
      return step;
    }),
  );
}

function obstaclesOf(supports: readonly StageSupport[]): readonly string[] {
  return [...new Set(supports.map(obstacleOf))];
}

function obstacleOf(support: StageSupport): string {
  if (support.state === "staged")
    return support.noOverlay === undefined ? "none" : `copy: ${support.noOverlay.obstacle}`;
  ok(support.reason.length > 10 && support.advice.length > 10);
  return support.obstacle;
}

export const scenarios: Scenarios = {
  "finds that a stage works, and leaves nothing behind": async () => {
    for (const name of ["workspace", "a,b:c\\d 'e", "two\nlines", "ümläut"]) {
      await using fixture = new StageFixture(files, { name });
      const before = fixture.tree();
      deepEqual(await probeStage(fixture.stateDir, [rootAt(fixture.root)]), { state: "staged" });
      deepEqual(fixture.tree(), before);
      deepEqual(readdirSync(join(fixture.stateDir, "stages")), []);
      deepEqual(readdirSync(fixture.base).length, 5);
    }
  },
  "finds that one works where no name is UTF-8": async () => {
    await using fixture = new StageFixture();
    for (const name of ["caf\xe9", "f\xfcr"]) writeFileSync(Buffer.from(join(fixture.root, name), "latin1"), "");
    deepEqual(await probeStage(fixture.stateDir, [rootAt(fixture.root)]), { state: "staged" });
  },
  "finds that one works over several roots, and over an empty one": async () => {
    await using fixture = new StageFixture(files);
    mkdirSync(join(fixture.base, "empty-root"));
    const roots = [fixture.root, join(fixture.base, "empty-root")].map(rootAt);
    deepEqual(await probeStage(fixture.stateDir, roots), { state: "staged" });
  },
  "names an owner who is somebody else": async () => {
    await using fixture = new StageFixture(files);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(fixture.root, 4711, 4711);
    const support = await probeStage(fixture.stateDir, [rootAt(isRoot ? fixture.root : "/usr/share")]);
    // Another user could not give back what it replaces.
    equal(obstacleOf(support), isRoot ? "copy: foreign_owner" : "foreign_owner");
  },
  "names a directory that another group shares": async () => {
    await using fixture = new StageFixture(files);
    shareWithGroup(join(fixture.root, "src"));
    equal(obstacleOf(await probeStage(fixture.stateDir, [rootAt(fixture.root)])), "copy: shared_group");
  },
};

/** What only root can set up. */
export const mountScenarios: Scenarios = {
  "names that no user namespace can be made": async () => {
    await using fixture = new StageFixture(files);
    // Only for this namespace; another user has none in it.
    const none = "echo 0 > /proc/sys/user/max_user_namespaces";
    deepEqual(obstaclesOf(probeAfter(fixture, none, { namespaces: ["--user", "--map-root-user"], users: [0] })), [
      "no_user_namespaces",
    ]);
  },
  "names that a filter refuses namespaces, as those of containers do": async () => {
    await using fixture = new StageFixture(files);
    const filter = join(fixture.base, "filter");
    writeFileSync(filter, filterOfUnshare());
    const through = `/usr/bin/bwrap --dev-bind / / --seccomp 9`;
    const supports = probeAfter(fixture, `exec 9<'${filter}'`, { users: [0], through });
    deepEqual(obstaclesOf(supports), ["no_user_namespaces"]);
    match(supports.map((support) => ("advice" in support ? support.advice : "")).join(""), /seccomp/);
  },
  "names a mount inside": async () => {
    await using fixture = new StageFixture(files);
    deepEqual(obstaclesOf(probeAfter(fixture, 'mount -t tmpfs x "$1/src"')), ["copy: mount_inside"]);
  },
  "names that there is no place on the workspace's file system": async () => {
    await using fixture = new StageFixture(files);
    deepEqual(obstaclesOf(probeAfter(fixture, 'mount -t tmpfs x "$1"; mkdir "$1/src"')), ["no_place"]);
  },
  "names a file system that takes no overlay": async () => {
    await using fixture = new StageFixture(files);
    // Two overlays lie over each other already, which is as many as the kernel lets be.
    const stack = [
      'mount -t tmpfs x "$2"; cd "$2"; mkdir l u1 w1 m1 u2 w2 m2; echo > l/a',
      "mount -t overlay o1 -o lowerdir=l,upperdir=u1,workdir=w1 m1",
      "mount -t overlay o2 -o lowerdir=m1,upperdir=u2,workdir=w2 m2",
      'mkdir m2/state "m2/${1##*/}"; mount --move m2 /mnt; mount --move /mnt "$2"; chmod 755 "$2"; cd /',
    ];
    deepEqual(obstaclesOf(probeAfter(fixture, stack.join("; "))), ["copy: overlay_refused"]);
  },
  "works where the workspace and the state directory are in memory": async () => {
    await using fixture = new StageFixture(files);
    deepEqual(
      obstaclesOf(
        probeAfter(fixture, 'mount -t tmpfs x "$2"; chmod 755 "$2"; mkdir -p "$1/src" "$2/state"; echo > "$1/a"'),
      ),
      ["none"],
    );
  },
  "takes a place beside the workspace when the state directory lies elsewhere": async () => {
    await using fixture = new StageFixture(files);
    deepEqual(obstaclesOf(probeAfter(fixture, 'mount -t tmpfs x "$2/state"')), ["none"]);
    deepEqual(readdirSync(fixture.base).toSorted(), ["empty", "home", "state", "tmp", "workspace"]);
  },
};
