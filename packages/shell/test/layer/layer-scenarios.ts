import { deepEqual, equal, match, ok } from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { recoverCommits } from "@gennai/stage/commit/recover-commits";
import { layerDirectory, layerOwners, readOwner, removeLayer } from "@gennai/stage/layer/layer-files";
import fc from "fast-check";
import { roundsOf } from "../../../stage/test/rounds.ts";
import type { Scenarios } from "../../../stage/test/run-scenarios.ts";
import { LayerFixture } from "./layer-fixture.ts";

const files = {
  ".gitignore": "dist/\nout/\nnode_modules/\n*.log\n",
  "src/a.ts": "a\n",
  "src/b.ts": "b\n",
  "pkg/src/c.ts": "c\n",
};
/** Not tracked, as the user has it. */
const ignored = {
  "dist/a.js": "a\n",
  "dist/deep/b.js": "b\n",
  "pkg/dist/c.js": "c\n",
  "node_modules/one/index.js": "1\n",
  "node_modules/two/index.js": "2\n",
  "src/run.log": "log\n",
};

function withIgnored(): LayerFixture {
  const fixture = new LayerFixture(files);
  fixture.write(ignored);
  return fixture;
}

/** Commands one after the other: what each sees has to be what it would see in a plain directory. */
const sequences: Readonly<Record<string, readonly string[]>> = {
  "a build, and what uses it": [
    "mkdir -p out && echo 1 > out/x.js",
    "cat out/x.js && echo 2 >> out/x.js",
    "cat out/x.js; rm out/x.js",
    "rmdir out",
  ],
  "a build over the user's": [
    "echo n > dist/a.js; rm -r dist/deep; echo y > dist/y.js",
    "cat dist/*; mkdir dist/deep; echo z > dist/deep/z.js",
    "find dist | sort",
  ],
  "removed and installed again": [
    "rm -rf node_modules && mkdir -p node_modules/two node_modules/three && echo 3 > node_modules/three/i.js",
    "ls node_modules node_modules/two; rm -rf node_modules",
    "mkdir -p node_modules/one && echo 4 > node_modules/one/new.js",
    "ls -R node_modules",
  ],
  "moved whole": [
    "mv dist out",
    "mv out dist && mv dist/deep dist/deeper",
    "mv pkg/dist pkg/out; find . -name '*.js' | sort",
  ],
  "git clean of what is ignored": [
    "echo 1 > out.log; git clean -fdXq",
    "find . -path ./.git -prune -o -print | sort",
    "mkdir dist; echo 1 > dist/n",
  ],
  "a directory in place of a file, and the other way round": [
    "rm -r dist && echo 1 > dist.log && mkdir -p out && echo 1 > out/x",
    "rm dist.log && mkdir dist.log && echo 2 > dist.log/in",
    "rm -r out; rm -r dist.log; echo 3 > dist.log; mkdir -p dist/a.js && echo 4 > dist/a.js/in",
    "rm -r dist/a.js; echo 5 > dist/a.js",
  ],
  "sources and a build": [
    "echo 2 > src/a.ts; echo 2 > dist/a.js; mkdir -p new/dist; echo 1 > new/x.ts; echo 1 > new/dist/x.js",
    "rm -r new",
    "mkdir new; ls new",
  ],
  "a directory with ignored files in it": [
    "rm -rf pkg",
    "mkdir -p pkg/dist && echo 1 > pkg/dist/c.js",
    "rm pkg/dist/c.js; echo 2 > pkg/x",
    "ls -R pkg",
  ],
  "a directory with ignored names in it, made anew": [
    "mkdir -p src/run.log/deep out; echo 1 > src/run.log/deep/a; echo 1 > src/x.log; echo 1 > src/y.log",
    "rm -rf src; mkdir -p src/run.log/deep; echo 2 > src/run.log/deep/b; echo 2 > src/y.log",
    "rm -rf src; mkdir src; ls -A src; mkdir src/run.log",
  ],
  "ignored directories in a directory made anew": [
    "rm -rf pkg; mkdir -p pkg/dist; echo 1 > pkg/dist/new.js",
    "echo 2 > pkg/dist/c.js; rm pkg/dist/c.js; ls pkg/dist",
    "rm -rf pkg; mkdir -p pkg/dist/deep; echo 3 > pkg/dist/deep/c.js",
    "ls -R pkg; rm -r pkg; ls pkg",
  ],
  branches: [
    "git switch -qc other; git rm -rqf pkg; git commit -qm x; echo 1 > dist/other.js",
    "git switch -q main; ls pkg pkg/dist dist",
    "git switch -q other; find . -path ./.git -prune -o -print | sort",
  ],
  "files moved out of it and into it": [
    "mv dist/a.js src/a.js; mv src/b.ts dist/b.ts",
    "mv dist/b.ts src/b.ts; cat src/a.js",
    "ls dist src",
  ],
  "closed directories": [
    "mkdir -p out/c && echo 1 > out/c/x && chmod 500 out/c && chmod 500 out",
    "cat out/c/x; chmod 700 out out/c && rm out/c/x",
    "stat -c '%a' out out/c",
  ],
  links: [
    "mkdir -p out; ln -s ../src out/l; ln -s /etc/passwd out/p",
    "cat out/l/a.ts; rm out/l; ln -s ../dist out/l",
    "ls out/l/",
  ],
};

const paths = [
  ...["dist", "dist/a.js", "dist/deep", "dist/deep/b.js", "dist/n", "out", "out/deep", "out/x.js", "pkg/dist"],
  ...["pkg/dist/c.js", "pkg", "pkg/src/c.ts", "src", "src/a.ts", "src/run.log", "node_modules", "node_modules/one"],
  ...["node_modules/one/index.js", "x.log"],
];
const path = fc.constantFrom(...paths);
const oneCommand = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(path, fc.nat(9)).map(([to, text]) => `echo ${text} > ${to}`) },
  { weight: 3, arbitrary: path.map((at) => `mkdir -p ${at}`) },
  { weight: 4, arbitrary: path.map((at) => `rm -rf ${at}`) },
  { weight: 3, arbitrary: fc.tuple(path, path).map(([from, to]) => `mv ${from} ${to}`) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(path, path)
      // What a copy into itself makes depends on the order of the names in a directory.
      .filter(([from, to]) => !`${to}/`.startsWith(`${from}/`))
      .map(([from, to]) => `cp -r ${from} ${to}`),
  },
  { weight: 1, arbitrary: path.map((at) => `rm -rf ${at} && mkdir -p ${at} && echo new > ${at}/new.js`) },
  { weight: 1, arbitrary: path.map((at) => `[ -d ${at} ] && chmod 755 ${at} && chmod 700 ${at}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "git clean -fdXq",
      "git checkout -q -- .",
      "git stash -q",
      "git add -A && git commit -qm more",
    ),
  },
);
const oneSequence = fc.array(
  fc.array(oneCommand, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("; ")),
  { minLength: 1, maxLength: 6 },
);

/**
 * The same in both places, each seeing the same before and after.
 * @param modes what of the permission bits must be the same
 */
async function inBoth(
  fixture: LayerFixture,
  commands: readonly string[],
  modes: (list: string) => string = (list) => list,
): Promise<void> {
  fixture.copy();
  for (const text of commands) {
    const staged = await fixture.command(text);
    const bare = fixture.inBare(text);
    const done = commands.slice(0, commands.indexOf(text) + 1).join("\n");
    equal(withoutMv(staged.output), withoutMv(bare.output), done);
    equal(staged.exitCode, bare.exitCode, done);
    deepEqual(staged.dropped, [], done);
    equal(modes(await fixture.seen()), modes(fixture.listBare()), done);
    equal(fixture.notIgnored(fixture.root), fixture.notIgnored(fixture.bare), done);
  }
}

/** Others may do no more with what is made anew than with what was there, which a plain directory forgets. */
function ofOwner(list: string): string {
  return list
    .replaceAll(/^([a-z]) (\d)\d\d /gm, "$1 $2 ")
    .split("\n")
    .toSorted()
    .join("\n");
}

/** It says in other words why a directory cannot be moved: to rename one is EXDEV in an overlay. */
function withoutMv(output: string): string {
  return output.replaceAll(/^mv: .*\n/gm, "");
}

const rounds = roundsOf({ few: 1, many: 8 });

export const scenarios: Scenarios = {
  ...Object.fromEntries(
    Object.entries(sequences).map(([name, commands]) => [
      `commands see what they would see in a plain directory: ${name}`,
      async () => {
        await using fixture = withIgnored();
        await inBoth(fixture, commands);
      },
    ]),
  ),
  "whatever commands come": async () => {
    await fc.assert(
      fc.asyncProperty(oneSequence, async (commands) => {
        await using fixture = withIgnored();
        await inBoth(fixture, commands, ofOwner);
      }),
      { numRuns: rounds, examples: [[["chmod 700 src", "rm -rf src && mkdir src && echo new > src/new.js"]]] },
    );
  },
  "nothing that git ignores comes into the workspace, or goes from it": async () => {
    await using fixture = withIgnored();
    const before = fixture.tree();
    await fixture.command(
      "rm -rf dist node_modules; mkdir -p out/x dist; echo 1 > out/x/y; echo 2 > dist/a.js; echo 1 > a.log",
    );
    deepEqual(fixture.tree(), before);
    const layer = await fixture.layer();
    deepEqual(
      (await layer?.list())?.map(({ path, files, removed }) => [path, files, removed]),
      [
        ["a.log", 1, 0],
        ["dist", 1, 0],
        ["node_modules", 0, 1],
        ["out", 1, 0],
      ],
    );
  },
  "bytecode, which runs in place of the source that a person reads, does not either": async () => {
    await using fixture = withIgnored();
    await fixture.command(
      "mkdir src/__pycache__; echo 1 > src/__pycache__/m.cpython-311.pyc; echo 2 > m.pyc; echo 3 > m.py",
    );
    equal((await fixture.command("cat src/__pycache__/* m.pyc m.py")).output, "1\n2\n3\n");
    deepEqual(
      ["src/__pycache__", "m.pyc", "m.py"].map((path) => existsSync(join(fixture.root, path))),
      [false, false, true],
    );
    fixture.write({ "old.pyc": "tracked\n" });
    await fixture.command("git add -f old.pyc && git commit -qm old && echo new > old.pyc");
    equal(fixture.read("old.pyc"), "new\n");
  },
  "a secret's name in the layer is hidden from the next command": async () => {
    await using fixture = withIgnored();
    await fixture.command("mkdir -p dist/deep; echo K > dist/deep/id_rsa; echo E > dist/.env; echo o > dist/o.js");
    match(
      (await fixture.command("cat dist/o.js; cat dist/.env dist/deep/id_rsa; ls -A dist dist/deep", { drop: true }))
        .output,
      /^o\n(?!.*[KE]\n)/s,
    );
  },
  "what an allowed build makes comes into the workspace": async () => {
    await using fixture = new LayerFixture(files);
    await fixture.command("mkdir -p dist node_modules/x && echo 1 > dist/a.js && echo 2 > node_modules/x/y.js", {
      confirmed: true,
    });
    equal(fixture.read("dist/a.js"), "1\n");
    equal(existsSync(join(fixture.root, "node_modules")), false);
  },
  "what git ignores no longer is gone on with, and takes no other change along": async () => {
    await using fixture = withIgnored();
    await fixture.command("mkdir -p out/deep && echo 1 > out/x.js && echo 1 > x.log");
    fixture.write({ ".gitignore": "dist/\nnode_modules/\nsrc/*.log\n" });
    for (const text of [
      "echo 2 >> out/x.js; echo 2 >> x.log; echo 2 > src/a.ts",
      "echo 3 > out/deep/y.js; rm src/b.ts",
    ]) {
      await fixture.command(text);
    }
    equal(
      (await fixture.command("cat out/x.js out/deep/y.js x.log src/a.ts; ls src")).output,
      "1\n2\n3\n1\n2\n2\na.ts\nrun.log\n",
    );
    deepEqual([existsSync(join(fixture.root, "out")), existsSync(join(fixture.root, "src/b.ts"))], [false, false]);
  },
  "a tree that the user changed meanwhile is dropped": async () => {
    await using fixture = withIgnored();
    await fixture.command("echo mine > dist/a.js; echo mine > node_modules/one/index.js; mkdir out; echo mine > out/x");
    fixture.write({ "dist/a.js": "the user's\n", "out/y": "the user's\n" });
    const { output, dropped } = await fixture.command("cat dist/a.js node_modules/one/index.js; ls out");
    equal(output, "the user's\nmine\ny\n");
    deepEqual(dropped, ["dist", "out"]);
  },
  "what a server that was killed had committed is in the layer after the next start": async () => {
    await using fixture = withIgnored();
    await fixture.command("echo 2 > src/a.ts; echo mine > dist/a.js; mkdir out; echo 1 > out/x", { dies: true });
    equal(await fixture.layer(), undefined);
    deepEqual(
      (await recoverCommits(fixture.stateDir)).map(({ state }) => state),
      ["kept"],
    );
    equal((await fixture.command("cat src/a.ts dist/a.js out/x")).output, "2\nmine\n1\n");
    equal(fixture.read("dist/a.js"), "a\n");
  },
  "what a later command made is not overwritten by what a start finds": async () => {
    await using fixture = withIgnored();
    await fixture.command("echo 2 > src/a.ts; echo old > dist/a.js; mkdir out; echo old > out/x", { dies: true });
    await fixture.command("echo new > dist/a.js");
    await recoverCommits(fixture.stateDir);
    equal((await fixture.command("cat src/a.ts dist/a.js; ls -d out")).output.split("\n").slice(0, 2).join(), "2,new");
  },
  "what is damaged is no layer, and stands in nobody's way": async () => {
    for (const spoil of [
      ({ directory }: Places) => writeFileSync(join(directory, "owner.json"), ""),
      ({ directory }: Places) => writeFileSync(join(directory, "owner.json"), '{"version":1}'),
      ({ place }: Places) => writeFileSync(join(place, "about.json"), '{"version":1,"revi'),
    ]) {
      await using fixture = withIgnored();
      await fixture.command("mkdir out && echo 1 > out/x; echo 2 > dist/a.js");
      const directory = layerDirectory(fixture.stateDir, fixture.session);
      spoil({ directory, place: readOwner(directory)?.place ?? "" });
      deepEqual(
        layerOwners(fixture.stateDir).filter(({ place }) => !existsSync(place)),
        [],
      );
      equal(
        (await fixture.command("ls out; cat dist/a.js")).output,
        "ls: cannot access 'out': No such file or directory\na\n",
      );
      ok(!readdirSync(fixture.base).some((name) => name.startsWith(".gennai")));
      equal((await fixture.command("mkdir out && echo 3 > out/x")).exitCode, 0);
      equal((await fixture.command("cat out/x")).output, "3\n");
    }
  },
  "what was being added when it was damaged is left out": async () => {
    await using fixture = withIgnored();
    await fixture.command("mkdir out && echo 1 > out/x");
    const place = readOwner(layerDirectory(fixture.stateDir, fixture.session))?.place ?? "";
    mkdirSync(join(place, "next", "tree", "more"), { recursive: true });
    writeFileSync(join(place, "next", "part.json"), '{"version":1,');
    equal((await fixture.command("cat out/x; ls -d more")).exitCode, 2);
    ok(!existsSync(join(place, "next")));
  },
  "it is dropped, and removed with its session": async () => {
    await using fixture = withIgnored();
    await fixture.command("mkdir -p pkg/out && echo 1 > pkg/out/x; echo 2 > dist/a.js");
    const layer = await fixture.layer();
    deepEqual(await layer?.drop(["pkg/out"]), ["pkg/out"]);
    equal((await fixture.command("ls pkg; cat dist/a.js")).output, "dist\nsrc\n2\n");
    await removeLayer(fixture.stateDir, fixture.session, fixture.root);
    equal((await fixture.command("cat dist/a.js")).output, "a\n");
    ok(!readdirSync(fixture.base).some((name) => name.startsWith(".gennai")));
    deepEqual(readdirSync(join(fixture.stateDir, "layers")), []);
  },
};

/** Directory in the state directory, and the one that holds the layer. */
interface Places {
  readonly directory: string;
  readonly place: string;
}
