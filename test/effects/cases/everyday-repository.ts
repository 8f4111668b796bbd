import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, lstatSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A small project as people have them: a package with scripts, some Python, a Makefile, tests, and what git ignores. */
export const everydayFiles: Readonly<Record<string, string>> = {
  ".gitignore": "node_modules\ndist\nbuild\n.env\n.venv\n__pycache__\n.pytest_cache\ntarget\n*.log\n",
  ".env.example": "KEY=\n",
  ".prettierrc": "{}\n",
  "Cargo.toml": '[package]\nname = "app"\nversion = "1.0.0"\nedition = "2021"\n',
  "CMakeLists.txt": "cmake_minimum_required(VERSION 3.20)\nproject(app C)\nadd_executable(app src/app.c)\n",
  Dockerfile: "FROM scratch\n",
  LICENSE: "MIT\n",
  Makefile:
    "all: build/app.o\n\nbuild/app.o: src/app.c\n\tmkdir -p build\n\tcp src/app.c build/app.o\n\nbuild: all\n\ntest: all\n\techo tested\n\n.PHONY: all build test\n",
  "README.md": "# Read me\n\nA TODO, and foo.\n",
  "a.txt": "1\n2\n3\n",
  "b.txt": "2\n3\n4\n",
  "data.csv": "name:1,2\nb:2,3\nc:4,5\n",
  "data.txt": "3 c\n1 a\n2 b\n1 a\n",
  "docs/notes.md": "# Notes\n\nNever `git reset --hard`, `rm -rf` or sudo.\n",
  "eslint.config.js": "export default [];\n",
  "farm/cow.txt": "moo\n",
  "file with spaces.md": "spaces\n",
  "-weird-name": "weird\n",
  "fixtures/ok.txt": "1,2\n3,4\n",
  "form.html": "<form></form>\n",
  "go.mod": "module example.com/app\n\ngo 1.19\n",
  "list.txt": "one\ntwo\n",
  "main.go": 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println("hello") }\n',
  "package.json": `${JSON.stringify(
    {
      name: "app",
      version: "1.0.0",
      type: "module",
      scripts: {
        build: "node scripts/build.mjs",
        dev: "node scripts/build.mjs",
        lint: "node scripts/lint.mjs",
        test: "node --test test/a.test.mjs",
      },
      devDependencies: { eslint: "^9.0.0", prettier: "^3.0.0", tsx: "^4.0.0", typescript: "^5.0.0", vitest: "^3.0.0" },
    },
    undefined,
    2,
  )}\n`,
  "packages/core/package.json":
    '{ "name": "core", "scripts": { "build": "mkdir -p dist && echo 1 > dist/core.js", "test": "node -e 1" } }\n',
  "pkg/x.go": "package pkg\n\nfunc X() int { return 1 }\n",
  "pkg/x_test.go":
    'package pkg\n\nimport "testing"\n\nfunc TestX(t *testing.T) {\n\tif X() != 1 {\n\t\tt.Fail()\n\t}\n}\n',
  "requirements.txt": "requests\n",
  "rules.yaml": "rules:\n  - id: one\n",
  "script.py": 'import sys\n\nprint("dry" if "--dry-run" in sys.argv else "wet")\n',
  "scripts/build.mjs":
    'import { cpSync, mkdirSync } from "node:fs";\nconst out = process.argv.includes("--outDir") ? process.argv.at(-1) : "dist";\nmkdirSync(out, { recursive: true });\ncpSync("src/index.js", `${out}/index.js`);\nconsole.log(`built ${out}`);\n',
  "scripts/build.sh": "#!/bin/bash\nset -e\nmkdir -p build\ncp src/index.js build/\necho built\n",
  "scripts/lint.mjs":
    'import { readFileSync } from "node:fs";\nif (readFileSync("src/index.js", "utf8").includes("\\t")) throw new Error("tabs");\n',
  "scripts/test.sh": "#!/bin/bash\nnpm test --silent\n",
  "shared.txt": "shared\n",
  "src/a.test.ts":
    'import { expect, test } from "vitest";\nimport { a } from "./a.ts";\n\ntest("a", () => expect(a).toBe(1));\n',
  "src/a.ts": "export const a = 1; // TODO foo\n",
  "src/app.c": "int main(void) { return 0; }\n",
  "src/b.ts": "export const b = 2;\n",
  "src/cli.ts": "console.log(process.argv.slice(2).join());\n",
  "src/index.js": 'console.log("index", process.argv.slice(2).join());\n',
  "src/index.ts": `${Array.from({ length: 24 }, (_, index) => `export const line${index} = ${index};`).join("\n")}\n`,
  "src/main.rs": 'fn main() {\n    println!("hello");\n}\n',
  "src/old.ts": "export const old = 1;\n",
  "src/rules.test.ts": 'import { test } from "vitest";\n\ntest("rules", () => undefined);\n',
  "src/run.js": 'console.log("run");\n',
  "test/a.test.mjs":
    'import assert from "node:assert/strict";\nimport { test } from "node:test";\n\ntest("one and one", () => assert.equal(1 + 1, 2));\n',
  "test/test_a.py": "def test_a():\n    assert 1 + 1 == 2\n\n\ndef test_b():\n    assert [1] == [1]\n",
  "tsconfig.json":
    '{ "compilerOptions": { "noEmit": true, "module": "nodenext", "allowImportingTsExtensions": true, "skipLibCheck": true, "types": [] }, "files": ["src/index.ts", "src/b.ts"] }\n',
  "x.diff": "--- a/list.txt\n+++ b/list.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n",
  "你好.md": "hello\n",
};

/**
 * Gives a repository of these files some history: three commits on the branch `work`, `main` one behind it, a branch `old` that
 * is merged, a tag, changes that are not committed, and what a build left.
 *
 * @param install fetches the package's own dependencies; needs a registry
 */
export function makeHistory(root: string, { install }: { readonly install: boolean }): void {
  const git = (...args: readonly string[]): void => {
    execFileSync("git", args, { cwd: root, stdio: "ignore", env: { ...process.env, ...atOneTime } });
  };
  const write = (path: string, text: string): void => writeFileSync(join(root, path), text);
  git("config", "user.name", "Test");
  git("config", "user.email", "test@example.com");
  git("remote", "add", "origin", "https://git.example.com/app.git");
  for (const path of ["scripts/build.sh", "scripts/test.sh"]) chmodSync(join(root, path), 0o755);
  symlinkSync("README.md", join(root, "READ"));
  git("add", "--all");
  git("commit", "--quiet", "--message", "Run scripts");
  git("branch", "old");
  git("tag", "v1.0.0");
  write("src/b.ts", "export const b = 2;\nexport const c = 3;\n");
  git("commit", "--quiet", "--all", "--message", "Add c");
  git("branch", "--force", "main");
  write("docs/notes.md", `${everydayFiles["docs/notes.md"]}\nMore.\n`);
  git("commit", "--quiet", "--all", "--message", "Say more");
  execFileSync("node", ["scripts/build.mjs"], { cwd: root, stdio: "ignore" });
  write("build.log", "built\n");
  if (install) execFileSync("npm", ["install", "--no-audit", "--no-fund"], { cwd: root, stdio: "ignore" });
  if (install) git("add", "package-lock.json");
  if (install) git("commit", "--quiet", "--message", "Lock dependencies");
  write("src/a.ts", "export const a = 1; // TODO foo, and more\n");
  write("src/n.ts", "export const n = 1;\n");
}

const time = "2026-01-02T03:04:05Z";
const atOneTime = { GIT_AUTHOR_DATE: time, GIT_COMMITTER_DATE: time };

/** What the server keeps in a workspace stays its own. */
const ofTheServer: ReadonlySet<string> = new Set([".orchestration", ".gennai"]);

/** Makes a directory, which stays the same one, hold what the template holds, with its times. */
export function copyTree(template: string, root: string): void {
  const keepsModules = modulesOf(template) === modulesOf(root);
  const stays = (name: string): boolean => ofTheServer.has(name) || (name === "node_modules" && keepsModules);
  for (const name of readdirSync(root)) {
    if (!stays(name)) rmSync(join(root, name), { recursive: true, force: true });
  }
  const names = readdirSync(template).filter((name) => !stays(name));
  if (names.length > 0) execFileSync("cp", ["-a", "--", ...names.map((name) => join(template, name)), `${root}/`]);
}

/** Brings what the server keeps in the workspace into a copy of it. */
export function copyServerFiles(workspace: string, copy: string): void {
  for (const name of ofTheServer) {
    rmSync(join(copy, name), { recursive: true, force: true });
    if (lstatSync(join(workspace, name), { throwIfNoEntry: false }) === undefined) continue;
    cpSync(join(workspace, name), join(copy, name), { recursive: true, preserveTimestamps: true });
  }
}

/** Tells whether installed packages were touched, without looking at each file: copying them takes seconds. */
function modulesOf(root: string): string {
  const modules = join(root, "node_modules");
  const stamps = ["", ".bin", ".package-lock.json"].map(
    (name) => lstatSync(join(modules, name), { throwIfNoEntry: false })?.mtimeMs,
  );
  const names = stamps[0] === undefined ? [] : readdirSync(modules).toSorted();
  return JSON.stringify([stamps, names]);
}
