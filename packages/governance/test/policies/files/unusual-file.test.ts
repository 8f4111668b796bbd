import { describe, expect, test } from "vitest";
import type { DirectoryEntry } from "#policies/files/control-files";
import { createControlFilesPolicy } from "#policies/files/control-files";
import { decide, inside, write } from "../effects.ts";

/** Entries by directory, of these files. */
function treeOf(...files: readonly string[]): ReadonlyMap<string, DirectoryEntry[]> {
  const tree = new Map<string, DirectoryEntry[]>();
  for (const file of files) {
    const parts = file.split("/");
    for (const [index, name] of parts.entries()) {
      const directory = parts.slice(0, index).join("/");
      const entries = tree.get(directory) ?? [];
      tree.set(directory, entries);
      if (entries.every((entry) => entry.name !== name))
        entries.push({ name, kind: index === parts.length - 1 ? "file" : "directory" });
    }
  }
  return tree;
}

const trees = {
  "a small JavaScript tree": treeOf(
    ..."package.json package-lock.json tsconfig.json README.md LICENSE .gitignore src/index.ts src/cli.ts src/args.ts".split(
      " ",
    ),
    ..."test/cli.test.ts docs/usage.md .github/workflows/ci.yml".split(" "),
  ),
  "a Python tree": treeOf(
    ..."pyproject.toml README.md LICENSE .gitignore app/__init__.py app/main.py app/models.py tests/conftest.py".split(
      " ",
    ),
    ..."tests/test_main.py requirements.txt Dockerfile Makefile".split(" "),
  ),
  "a flat tree": treeOf(..."README.md index.js server.js routes.js db.js style.css index.html data.csv".split(" ")),
};

/** Files that tools run or obey by themselves, by tool. */
const runLater = {
  pipelines:
    ".gitlab-ci.yml .travis.yml .drone.yml appveyor.yml azure-pipelines.yml bitbucket-pipelines.yml Jenkinsfile cloudbuild.yaml buildspec.yml .semaphore/semaphore.yml .github/workflows/x.yml .cirrus.yml codefresh.yml wercker.yml",
  builds:
    "Earthfile Tiltfile SConstruct Snakefile BUCK BUILD meson.build build.xml build.zig Cakefile Jakefile.js gulpfile.js Gruntfile.js wscript xmake.lua premake5.lua Directory.Build.props Directory.Build.targets dodo.py tasks.py fabfile.py build.ninja magefile.go default.nix",
  "hosting and deployment":
    "Procfile Caddyfile skaffold.yaml serverless.yml app.yaml firebase.json wrangler.toml Pulumi.yaml ansible.cfg Vagrantfile Fastfile Capfile",
  "tests and linters":
    "karma.conf.js wdio.conf.ts vitest.setup.ts jest.setup.js .mocharc.cjs codecept.conf.js nightwatch.conf.js phpunit.xml .rubocop.yml .eslintrc.cjs biome.json .swcrc noxfile.py manage.py .flake8 nodemon.json",
  "build plugins":
    "vue.config.js metro.config.js craco.config.js angular.json .parcelrc webpack.mix.js svgo.config.mjs",
  "package managers":
    ".pnp.cjs .npmrc lerna.json rush.json Brewfile Podfile Berksfile Puppetfile pip.conf NuGet.config mix.exs Gemfile .condarc",
  "hooks and shells":
    ".pre-commit-config.yaml lefthook.yml .overcommit.yml .githooks/pre-push .bash_aliases .tmux.conf .direnvrc .autoenv.zsh .config/fish/config.fish",
  editors:
    ".vscode/tasks.json .nova/Tasks/x.json .sublime-project .projections.json .lvimrc .emacs.el .helix/languages.toml project.sublime-project",
  "in a directory":
    "sub/build.gradle sub/x.cmake sub/x.gyp sub/a.gemspec units/x.service sub/x.sbt sub/rules.mk sub/x.bzl sub/x.hcl",
  agents:
    "AGENTS.md WARP.md SKILL.md CONVENTIONS.md .clinerules .junie/guidelines.md .trae/rules/x.md .augment-guidelines .kilocode/mcp.json .amazonq/rules/x.md docs/CRUSH.md",
};

describe.each(Object.entries(trees))("in %s", (_tree, entries) => {
  const policy = createControlFilesPolicy({ root: "/ws", entriesIn: async (path) => entries.get(path) ?? [] });
  const ruleOf = async (...paths: readonly string[]): Promise<string> => {
    const verdict = await decide(policy, ...paths.map((path) => write(inside(path), { operation: "create" })));
    return verdict.type === "allow" ? "allow" : verdict.finding.rule;
  };

  test.each(Object.entries(runLater))("new files of %s are asked about, or refused", async (_tool, names) => {
    for (const name of names.split(" ")) expect([name, await ruleOf(name)]).not.toEqual([name, "allow"]);
  });

  test.each([
    ...[
      "README.de.md",
      "CHANGELOG.md",
      "LICENSE-MIT",
      "SHA256SUMS",
      "notes.md",
      "docs/guide/begin.md",
      "docs/diagram.svg",
    ],
    ...["data/people.csv", "page.html", "src/.gitignore", "fixtures/.gitkeep", ".prettierignore", ".env.example"],
    ...["package-lock.json", "Cargo.lock", "src/parse.ts", "src/deep/er/x.py", "src/query.sql"],
    ...["tests/data/a.golden", "tests/data/one.json", "dist/main", "packages/x/dist/.vite/manifest.json"],
    ...["coverage/.tmp/x.json", "release.tar.gz"],
  ])("a new %s is ordinary", async (path) => {
    expect(await ruleOf(path)).toBe("allow");
  });
});

describe("what is beside a new file", () => {
  test.each<[string, string[], string, boolean]>([
    ["the third of an ending in a top", ["a.js", "b.js"], "c.js", true],
    ["the fourth", ["a.js", "b.js", "c.js"], "d.js", false],
    ["the fourth, in other letters", ["a.js", "b.js", "c.js"], "d.JS", false],
    ["a configuration is of another kind", ["a.js", "b.js", "c.js"], "x.config.js", true],
    ["a name that only people know is not told apart", ["a.js", "b.js", "c.js"], "ember-cli-build.js", false],
    ["directories do not count", ["a.js/x.js", "b.js/x.js", "c.js/x.js"], "d.js", true],
    ["no ending, in a top", ["bin", "run", "go"], "walk", true],
    ["no ending, alone", ["bin/a.sh"], "bin/walk", true],
    ["no ending, among its like", ["bin/run", "bin/go"], "bin/walk", false],
    ["documents are not its like", ["sub/README", "sub/LICENSE"], "sub/walk", true],
    ["the first settings of a directory", ["conf/a.json"], "conf/a.yml", true],
    ["the second", ["conf/a.yml"], "conf/b.prod.yml", false],
    ["the same in another format", ["conf/a.yml"], "conf/a.xml", true],
    ["the first of a kind that no list knows", ["infra/a.json"], "infra/main.tf", true],
    ["the second of it", ["infra/a.tf"], "infra/b.tf", false],
    ["the first source of its kind", ["src/a.ts"], "src/a.vue", false],
    ["a package is a top", ["app/package.json"], "app/x.js", true],
    ["what is in it is not", ["app/package.json"], "app/src/x.js", false],
    ["a repository's data is a top", ["app/HEAD"], "app/x.js", true],
    ["a directory of that name makes none", ["app/Head/x.js"], "app/x.js", false],
    ["a package that an import finds first", ["src/a.js", "src/b.js"], "src/node_modules/b/dist/b.js", true],
    ["what tools keep beside packages", ["src/a.js"], "node_modules/.cache/x/a.js", false],
    ["notes for agents among documents", ["docs/A.md", "docs/B.md", "docs/C.md"], "docs/D.md", true],
  ])("%s", async (_name, files, created, asks) => {
    const entries = treeOf(...files);
    const policy = createControlFilesPolicy({ root: "/ws", entriesIn: async (path) => entries.get(path) ?? [] });
    const verdict = await decide(policy, write(inside(created), { operation: "create" }));
    expect(verdict.type).toBe(asks ? "ask" : "allow");
    expect((await decide(policy, write(inside(created), { operation: "update" }))).type).toBe("allow");
  });

  test("files of one command are one question", async () => {
    const policy = createControlFilesPolicy({ root: "/ws", entriesIn: async () => [] });
    const found = { agreed: false, tracked: false, ignored: false, traits: [] };
    const create = (path: string, more = {}) =>
      write(inside(path), { operation: "create", found: { ...found, ...more } });
    const verdict = await decide(
      policy,
      ...["a.js", "b", "docs/x.md", ".c"].map((path) => create(path)),
      create("agreed.js", { agreed: true }),
      create("ignored.js", { ignored: true }),
    );
    expect(verdict).toEqual({
      type: "ask",
      finding: {
        code: "control_file",
        rule: "control-files/new",
        reason: "Tools may run or obey these new files: a.js, b, .c.",
      },
    });
  });
});
