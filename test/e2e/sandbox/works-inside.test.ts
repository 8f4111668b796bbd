import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bash } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { sampleOf } from "../../../scripts/lib/tests/sample.mjs";
import { eventOf, runTurn, startSession } from "../rpc/session-client.ts";

/** What a program does in a staged run, and what is there of it afterwards, for the next command and for the user. */
interface Work {
  readonly name: string;
  /** A program that not every machine has; without it there is nothing to try. */
  readonly needs?: string;
  /** Runs in the workspace before, as the user. */
  readonly prepare?: (server: TestServer) => Promise<unknown>;
  readonly files?: Readonly<Record<string, string>>;
  /** Each is a run of its own. */
  readonly commands: readonly string[];
  /** What the last one prints. */
  readonly prints?: string | RegExp;
  readonly look?: (server: TestServer) => Promise<unknown>;
}

const branches = async ({ workspace: { git, write } }: TestServer): Promise<void> => {
  await git("checkout", "--quiet", "-b", "feature");
  await write("feature.txt", "feature\n");
  await git("add", "--all");
  await git("commit", "--quiet", "--message", "feature");
  await git("checkout", "--quiet", "work");
  await write("a.txt", "work\n");
  await git("commit", "--quiet", "--all", "--message", "work");
  await git("checkout", "--quiet", "feature");
};

const dependency = {
  "dep/package.json": '{ "name": "dep", "version": "1.0.0" }\n',
  "dep/index.js": "module.exports = 42;\n",
};

/** Makes the smallest package that pip takes. */
const wheel = `
import zipfile
info = "dep-1.0.dist-info/"
with zipfile.ZipFile("dep-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("dep.py", "answer = 42\\n")
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: dep\\nVersion: 1.0\\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "RECORD", "")
`;

/** Programs over a database in the workspace. */
function sqlite(programs: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const opens = 'import { DatabaseSync } from "node:sqlite"; const db = new DatabaseSync("app.db");';
  return Object.fromEntries(Object.entries(programs).map(([name, text]) => [name, `${opens} ${text} db.close();\n`]));
}

/** The repository's own programs: its Node, and TypeScript. */
const programs = fileURLToPath(new URL("../../../node_modules/.bin", import.meta.url));

const works: readonly Work[] = [
  {
    name: "git mv, and the commit of it",
    commands: ["git mv a.txt b.txt && git commit --quiet --message moved", "git show --stat --format=%s -M HEAD"],
    prints: /moved[^]*a\.txt => b\.txt/,
    look: async ({ workspace }) => expect(await workspace.git("status", "--porcelain")).toBe(""),
  },
  {
    name: "git worktree",
    prepare: branches,
    commands: [
      "git worktree add --quiet wt work && cat wt/a.txt && git worktree remove wt && git worktree list | wc -l",
    ],
    prints: "work\n1",
  },
  {
    name: "a directory that a shell renames",
    files: { "dir/one.txt": "1\n", "dir/deep/two.txt": "2\n" },
    commands: ["mv dir other && git add --all", "cat other/one.txt other/deep/two.txt; git status --short"],
    prints: /^1\n2\nR {2}dir\/deep\/two\.txt -> other\/deep\/two\.txt\n/,
  },
  {
    name: "a directory that a program made and renames",
    commands: [
      `node -e 'const fs = require("fs"); fs.mkdirSync("new/deep", { recursive: true }); fs.writeFileSync("new/deep/x.txt", "x"); fs.renameSync("new", "named")'`,
      "cat named/deep/x.txt",
    ],
    prints: "x",
  },
  {
    name: "pnpm, with a package of the disk",
    needs: "pnpm",
    files: { ...dependency, "package.json": '{ "name": "top", "dependencies": { "dep": "file:dep" } }\n' },
    commands: ["pnpm install --offline --silent && node -p 'require(\"dep\")'", "node -p 'require(\"dep\")'"],
    prints: "42",
  },
  {
    name: "yarn, with a package of the disk",
    needs: "yarn",
    files: { ...dependency, "package.json": '{ "name": "top", "dependencies": { "dep": "file:./dep" } }\n' },
    commands: ["yarn install --offline --silent && node -p 'require(\"dep\")'", "node -p 'require(\"dep\")'"],
    prints: "42",
  },
  {
    name: "pip, with a wheel of the disk, in an environment of the project",
    needs: "pip3",
    files: { "wheel.py": wheel, ".gitignore": ".venv\n*.whl\n" },
    commands: [
      "python3 wheel.py && python3 -m venv --without-pip .venv && python3 -m pip --quiet --python .venv/bin/python install --no-index ./dep-1.0-py3-none-any.whl",
      ".venv/bin/python -c 'import dep; print(dep.answer)'",
    ],
    prints: "42",
  },
  {
    name: "npm run, with arguments and a script before it",
    files: { "package.json": '{ "scripts": { "prebuild": "echo before", "build": "echo built" } }\n' },
    commands: ["npm run --silent build -- more"],
    prints: "before\nbuilt more",
  },
  {
    name: "times of files, by which builds know what is new",
    files: { "src/in.txt": "1\n" },
    commands: [
      "mkdir -p out && cp src/in.txt out/copy.txt && touch -d '2001-02-03 04:05:06 UTC' out/old.txt",
      "[ out/copy.txt -nt src/in.txt ] && stat -c %Y out/old.txt; [ src/in.txt -nt out/copy.txt ] || echo nothing to do",
    ],
    prints: "981173106\nnothing to do",
  },
  {
    name: "file locks, between processes of a run",
    commands: [
      "exec 9>a.lock; flock 9; flock --nonblock a.lock true || echo held; flock --unlock 9; flock --nonblock a.lock echo free",
    ],
    prints: "held\nfree",
  },
  {
    name: "make, which does again only what is older",
    files: { Makefile: "out.txt: in.txt\n\tcat in.txt > out.txt\n", "in.txt": "1\n" },
    commands: ["make --silent && cat out.txt", "make", "echo 2 > in.txt", "make --silent && make && cat out.txt"],
    prints: "make: 'out.txt' is up to date.\n2",
  },
  {
    name: "tsc, which goes on from what it wrote in an earlier run",
    files: {
      "tsconfig.json":
        '{ "compilerOptions": { "incremental": true, "rootDir": "src", "outDir": "dist", "types": [] }, "include": ["src"] }\n',
      "src/a.ts": "export const one: number = 1;\n",
      ".gitignore": "dist\n",
    },
    commands: [
      "tsc --build",
      "tsc --build --verbose",
      "echo 'export const two = 2;' > src/b.ts && tsc --build && ls dist",
    ],
    prints: /^a\.js\nb\.js\n/,
  },
  {
    name: "SQLite, with its log and its locks",
    files: sqlite({
      "make.mjs": 'db.exec("pragma journal_mode = wal; create table t (x); insert into t values (1)");',
      "add.mjs":
        'db.exec("begin immediate"); try { new DatabaseSync("app.db").exec("insert into t values (9)"); } catch { console.log("locked"); }' +
        'db.exec("insert into t values (2); commit");',
      "sum.mjs": 'console.log(db.prepare("select sum(x) as sum from t").get().sum);',
    }),
    commands: ["node make.mjs", "node --no-warnings add.mjs | grep locked", "node --no-warnings sum.mjs"],
    prints: "3",
  },
  {
    name: "sockets and named pipes of a run's own",
    commands: ["mkfifo pipe && { echo through > pipe & cat pipe; } && rm pipe"],
    prints: "through",
  },
];

const possible = works.filter(({ needs }) => {
  return (
    needs === undefined ||
    (process.env["PATH"] ?? "").split(":").some((directory) => existsSync(join(directory, needs)))
  );
});

test.each(sampleOf(possible, 3))("works inside: $name", async ({ commands, files, prepare, prints, look }) => {
  await using server = await startTestServer({
    files: { "a.txt": "first\n", ".gitignore": "node_modules\n", ...files },
    script: commands.map((command) => ({ steps: [bash(command), { text: ["Done."] }] })),
    server: { commands: "staged", environment: { ...process.env, PATH: `${programs}:${process.env["PATH"]}` } },
  });
  await server.workspace.git("config", "user.name", "Test");
  await server.workspace.git("config", "user.email", "test@example.com");
  await prepare?.(server);
  const sessionId = await startSession(server);
  let printed = "";
  for (const command of commands) {
    const { output, error } = eventOf(await runTurn(server, sessionId, "go"), "toolResult");
    expect(error, `${command}\n${output}`).toBe("");
    printed = output.replace(/\n?\[exit code 0\](?:\n\[what `&` started[^\]]*\])?$/, "");
  }
  if (typeof prints === "string") expect(printed).toBe(prints);
  else if (prints !== undefined) expect(printed).toMatch(prints);
  await look?.(server);
});
