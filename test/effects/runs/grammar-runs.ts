import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readingGitEnvironment } from "@gennai/git/run/start-git";
import { analyseCommand } from "@gennai/governance/command/analyse-command";
import { secretPath } from "@gennai/governance/command/secret-paths";
import { commandVerdict } from "@gennai/governance/policies/commands";
import { readingForms } from "@gennai/governance/programs/known-programs";
import { commandEnvironment } from "@gennai/machine/process/command-environment";
import { reachesSecret } from "@gennai/sessions/policies/reaches-secret";
import { SeededRandom } from "@gennai/testkit/seeded-random";

const canary = "Kanarienvogel4711";
const files: Readonly<Record<string, string>> = {
  "a.txt": "one\ntwo\n",
  "b.json": '{ "a": { "b": [1, 2] } }\n',
  "src/a.ts": "export const a = 1;\n",
  "src/deep/c.ts": "export const c = 3;\n",
  "-n": "an option\n",
  "two words": "x\n",
  ".env": `KEY=${canary}\n`,
  "server.pem": `${canary}\n`,
  "src/deep/.env": `KEY=${canary}\n`,
  "plain/c.txt": "three\n",
  "plain/-o": "an option\n",
  "plain/d.txt": "four\n",
  "secrets/credentials.json": `{ "key": "${canary}" }\n`,
};

/** A command of the grammar that ran, and did or showed what none may. */
export interface GrammarHarm {
  readonly command: string;
  readonly what: string;
}

/**
 * Makes commands by the table, with random options, words, quotes and joints; spoils every other one; and really runs those that
 * would be run unasked where there is no sandbox, in a tree of canaries: secrets, links to them, programs named like those of the
 * table, and a repository whose settings name programs. Whatever goes wrong stays in that tree.
 */
export async function grammarRuns(options: {
  readonly rounds: number;
  readonly seed: number;
  readonly onRound?: (command: string, ran: boolean) => void;
}): Promise<readonly GrammarHarm[]> {
  const random = new SeededRandom(options.seed);
  const base = realpathSync(mkdtempSync(join(tmpdir(), "gennai-grammar-")));
  try {
    const root = join(base, "tree");
    makeTree(root);
    const plain = { ...commandEnvironment(process.env), HOME: base };
    const environment = { ...plain, ...(await readingGitEnvironment(root, plain)) };
    const before = stateOf(base);
    const harms: GrammarHarm[] = [];
    for (let round = 0; round < options.rounds; round += 1) {
      const made = commandOf(random);
      const command = below(2, random) === 0 ? spoilt(made, random) : made;
      const runs = isUnasked(command, root, base);
      options.onRound?.(command, runs);
      if (!runs) continue;
      const shown = run(command, root, environment);
      if (shown.includes(canary)) harms.push({ command, what: "a secret was shown" });
      if (shown.includes("a program ran")) harms.push({ command, what: "a program of the tree ran" });
      if (stateOf(base) !== before) return [...harms, { command, what: "the tree changed" }];
    }
    return harms;
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

/** What the policies about commands and secrets say together; all paths are in the tree. */
function isUnasked(command: string, root: string, home: string): boolean {
  const analysis = analyseCommand(command, { cwd: root, home, workspace: root });
  if (commandVerdict(analysis).type !== "allow" || analysis.contents.length > 0) return false;
  const isSecret = (path: string): boolean => secretPath(path) !== undefined;
  return analysis.paths.every(({ access, absolute, pattern = false }) => {
    return `${absolute}/`.startsWith(`${root}/`) && (access !== "read" || !reachesSecret(absolute, isSecret, pattern));
  });
}

function run(command: string, root: string, environment: Readonly<Record<string, string>>): string {
  const box = ["--dev-bind", "/", "/", "--ro-bind", "/usr", "/usr", "--bind", dirname(root), dirname(root)];
  const { output } = spawnSync(
    "/usr/bin/bwrap",
    [...box, "--unshare-net", "--unshare-pid", "--die-with-parent", "--chdir", root, "/bin/bash", "-c", command],
    { env: environment, timeout: 2_000, killSignal: "SIGKILL", maxBuffer: 1024 * 1024, input: "", encoding: "utf8" },
  );
  return output.join("\n");
}

/** Names, modes and bytes of all below, git's own files among them. */
function stateOf(path: string): string {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return readlinkSync(path);
  if (!stat.isDirectory()) return `${stat.mode} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`;
  return readdirSync(path)
    .toSorted()
    .map((name) => `${name}: ${stateOf(join(path, name))}`)
    .join("\n");
}

function makeTree(root: string): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  for (const [link, target] of [
    ["notes.txt", ".env"],
    ["away", "secrets"],
    ["src/near", "../server.pem"],
  ] as const)
    symlinkSync(target, join(root, link));
  const trap = `#!/bin/sh\necho a "program" ran\necho > "${root}/trapped"\n`;
  for (const name of ["trap", "ls", "cat", "git", "pager"]) writeFileSync(join(root, name), trap, { mode: 0o755 });
  const git = (...args: readonly string[]) =>
    execFileSync("git", [...args], { cwd: root, stdio: "ignore", env: { PATH: process.env["PATH"], HOME: root } });
  git("init", "--quiet", "--initial-branch=main");
  for (const [name, value] of [
    ["user.name", "Test"],
    ["user.email", "test@example.com"],
  ] as const)
    git("config", name, value);
  git("add", "a.txt", "b.json", "src/a.ts");
  git("commit", "--quiet", "-m", "first");
  for (const name of ["core.fsmonitor", "core.pager", "diff.external", "core.editor", "gpg.program", "diff.x.textconv"])
    git("config", name, `${root}/trap`);
  writeFileSync(join(root, ".gitattributes"), "*.txt diff=x\n");
  writeFileSync(join(root, "a.txt"), "one\nthree\n");
}

const words = [
  ...Object.keys(files),
  ...["notes.txt", "away", "src/near", "src", "secrets", ".", "..", "/etc/hostname", "trap"],
];
const open = [
  ...["*", "*.txt", "a*", "-*", "src/*", "src/*.ts", "src/d*", "src/deep/*", "plain/*", "plain/*.txt", "secrets/*"],
  ...["away/*", "src/near*", "./*", "src/../*", "*/*", "src/*/c.ts", ".*", "src/.*", "/etc/host*"],
  ...['"$(cat a.txt)"', '"$(git log --oneline)"', '"$(cat .env)"', '"$(./trap)"', '"$(echo x; ls src)"'],
];
const odd = [
  ...["HEAD", "-", "--", "main", "x", "1", "1,2p", ".a.b", "{print $1}", "%s\\n", "+%F", "$HOME", '"$PWD"/a.txt'],
];

function commandOf(random: SeededRandom): string {
  let text = simple(random);
  while (below(3, random) === 0) text += `${random.pick([" | ", " && ", "; ", " || ", "|", "\n"])}${simple(random)}`;
  return text;
}

function simple(random: SeededRandom): string {
  const [name, row] = random.pick([...readingForms]);
  const parts: string[] = [];
  const options = row.options.split(" ").filter((option) => option !== "" && option !== "any");
  for (let count = below(4, random); count > 0 && options.length > 0; count -= 1) {
    const [, option = "", kind = ""] = /^(--?[^=?]+)(.*)$/.exec(random.pick(options)) ?? [];
    const value = random.pick(["1", "2", ",", "*.ts", ...words]);
    if (kind.startsWith("="))
      parts.push(option.startsWith("--") ? `${option}=${value}` : `${option} ${quoted(value, random)}`);
    else parts.push(option === "-#" ? `-${below(20, random)}` : option);
  }
  for (const needed of row.needs ?? []) if (below(2, random) === 0) parts.push(needed);
  for (let count = below(3, random); count > 0; count -= 1)
    parts.push(
      below(4, random) === 0 ? random.pick(open) : quoted(random.pick(below(3, random) === 0 ? odd : words), random),
    );
  const end = random.pick(["", "", "", " 2>&1", " 2>/dev/null", " < a.txt", " < .env"]);
  return [name, ...parts].join(" ") + end;
}

/** A whole number from 0 to below this. */
function below(count: number, random: SeededRandom): number {
  return Math.floor(random.next() * count);
}

function quoted(word: string, random: SeededRandom): string {
  if (word.startsWith("$") || word.startsWith('"')) return word;
  return random.pick([
    word,
    `'${word}'`,
    `"${word}"`,
    word.length > 2 ? `${word.slice(0, 2)}''${word.slice(2)}` : word,
  ]);
}

/** What a shell may understand otherwise than it looks. */
const spoilers = [
  ..."`$(){}[]*?~!#&;|<>\\'\"\n\t =:^,",
  ...[
    "$(./trap)",
    "`./trap`",
    ">x",
    ">>a.txt",
    "&",
    "<(./trap)",
    "$((a[0]))",
    "${x:-.env}",
    "a[$(./trap)]",
    "{.env,x}",
    ".e*",
    "./",
  ],
  ...[
    "-o",
    "--output=x",
    "-exec ./trap",
    "-delete",
    "-O./trap",
    "--ext-diff",
    "--textconv",
    "-c core.pager=./trap",
    "e",
    "w x",
  ],
];

function spoilt(text: string, random: SeededRandom): string {
  let result = text;
  for (let count = 1 + below(3, random); count > 0; count -= 1) {
    const at = below(result.length + 1, random);
    const cut = below(3, random) === 0 ? 1 : 0;
    result = result.slice(0, at) + random.pick(spoilers) + result.slice(at + cut);
  }
  return result;
}
