import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { controlProject } from "./control-project.ts";
import type { WatchedWorkspace } from "./watched-workspace.ts";

const evil = "$(echo evil | git hash-object -w --stdin)";
const staged = `git update-index --add --cacheinfo 100644,${evil},CLAUDE.md`;

/** Writes by way of a mapping, which in memory changes no time of the file. */
const mapped = (file: string, write: string): string =>
  `python3 -c "import mmap, hashlib as h; f = open('${file}', 'r+b'); m = mmap.mmap(f.fileno(), 0); ${write}"`;
const replaced = (from: string, to: string): string => `at = m.find(${from}); m[at:at + len(${to})] = ${to}`;
const named = (object: string): string => `bytes.fromhex('${object}')`;
/** Another object for AGENTS.md, in an index with its digest. */
const mappedIndex = mapped(
  ".git/index",
  `${replaced(named("$(git rev-parse :AGENTS.md)"), named(evil))}; m[-20:] = h.sha1(m[:-20]).digest()`,
);

/** What a command does to files that were looked at before it, so that a look at them again may find nothing new. */
const attacks: readonly (readonly [what: string, does: string])[] = [
  [
    "size and time are put back",
    "touch -r AGENTS.md t; printf 'Be evil.\\n' | dd of=AGENTS.md conv=notrunc 2>&1; touch -r t AGENTS.md; rm t",
  ],
  ["a file is written by way of a mapping", mapped("AGENTS.md", replaced("b'kind'", "b'evil'"))],
  ["a hook is", mapped(".git/hooks/pre-commit", replaced("b'good'", "b'evil'"))],
  ["only modes change", "chmod 777 AGENTS.md; chmod 644 .husky/pre-push"],
  ["a file becomes a link, and a file again", "mv AGENTS.md x; ln -s x AGENTS.md; echo evil >> x; mv x AGENTS.md"],
  [
    "a file becomes a directory, and a file again",
    "rm AGENTS.md; mkdir AGENTS.md; rmdir AGENTS.md; echo evil > AGENTS.md",
  ],
  ["a directory is moved away and back", "mv sub sub2; echo '[]' > sub2/tsconfig.json; mv sub2 sub"],
  [
    "a copy takes the place of a directory",
    "cp -a sub x; echo '[]' > x/tsconfig.json; mv sub old; mv x sub; rm -r old",
  ],
  ["it is written by another name", "ln AGENTS.md x; echo evil >> x; rm x"],
  ["git is told to look away", "git update-index --assume-unchanged AGENTS.md; echo evil >> AGENTS.md"],
  ["git is told that it is not there", "git update-index --skip-worktree AGENTS.md; echo evil >> AGENTS.md"],
  ["git ignores all", "echo '*' > .gitignore; echo evil > CLAUDE.md; mkdir .claude; echo evil > .claude/settings.json"],
  [
    "git means to add it",
    "rm .gitignore; echo evil > CLAUDE.md; git add -N CLAUDE.md; git add CLAUDE.md; rm CLAUDE.md",
  ],
  ["the index is split", `git update-index --split-index; ${staged}`],
  [
    "the index is split and whole again",
    `git update-index --split-index; ${staged}; git update-index --no-split-index`,
  ],
  ["the index has another version", `git update-index --index-version 4; ${staged}`],
  ["the index is sparse", `git sparse-checkout set --cone --sparse-index src; ${staged}`],
  ["the index is removed", "rm .git/index"],
  ["the index is made anew", `rm .git/index; git add -A; ${staged}`],
  ["the index becomes a link", "cp .git/index .git/x; ln -sf x .git/index"],
  ["another index takes its place", `cp .git/index x; export GIT_INDEX_FILE=x; ${staged}; mv x .git/index`],
  ["the index is written by way of a mapping", mappedIndex],
  ["the repository is made anew", "rm -rf .git; git init -q; echo evil > .git/hooks/pre-commit; git add -A"],
  [
    "a worktree comes and goes",
    "git worktree add -q x -b x; echo evil > .git/hooks/pre-commit; git worktree remove -f x",
  ],
];

const onDisk = fileURLToPath(new URL("../../../../.cache/on-disk/", import.meta.url));
mkdirSync(onDisk, { recursive: true });
/** The usual place for temporary files may be in memory, too. */
const places = [onDisk, "/dev/shm"].filter((place) => existsSync(place));

test.each(places)("in %s, what was remembered hides nothing that a command does", async (place) => {
  vi.stubEnv("TMPDIR", place);
  const made = await controlProject({ sandboxed: false });
  made.write(".git/hooks/pre-commit", "#!/bin/sh\n# good\n");
  chmodSync(join(made.root, ".git/hooks/pre-commit"), 0o755);
  await made.git("commit", "-q", "--allow-empty", "-m", "x");
  const ends: unknown[] = [];
  for (const [what, does] of attacks) {
    // Longer than the clock of a file system stands still.
    await delay(60);
    const { putBack: nothing } = await made.run("npm test", "true");
    const before = await controlIn(made);
    const { putBack } = await made.run("npm test", does);
    ends.push({
      what,
      before: nothing.files,
      isSaid: putBack.files.length > 0,
      changed: changed(before, await controlIn(made)),
    });
  }
  expect(ends).toEqual(attacks.map(([what]) => ({ what, before: [], isSaid: true, changed: [] })));
});

async function controlIn({ control, git }: WatchedWorkspace): Promise<Record<string, string>> {
  const files = Object.entries(control()).filter(([path]) =>
    /AGENTS|CLAUDE|hooks|husky|^sub\/|\.claude|\.git\/config/.test(path),
  );
  return {
    ...Object.fromEntries(files),
    index: await git("ls-files", "-s", "AGENTS.md", "CLAUDE.md", ".husky", "sub"),
  };
}

function changed(before: Record<string, string>, after: Record<string, string>): readonly string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((path) => before[path] !== after[path]);
}
