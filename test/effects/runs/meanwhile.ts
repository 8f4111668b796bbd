import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bash } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { type CrashOptions, randomNumbers } from "../../crash/crash-options.ts";
import { eventsOf, startSession } from "../../e2e/rpc/session-client.ts";
import { inTime } from "./in-time.ts";

/** Says that it began, works on names that the user works on as well, and takes its time. */
const ofFiles = [
  "echo begun; for i in 1 2 3 4 5 6; do echo command >> src/$i.txt; done; sleep 0.$(( $(date +%N | cut -c1) ))",
  "rm -f src/9.txt; echo command >> between.txt; mkdir -p made; echo $(date +%N) > made/new-$(date +%N).txt",
].join("\n");
/** Others keep to their own names, so that they are kept. */
const beside =
  "echo begun; sleep 0.1; n=$(date +%N); mkdir -p own; for i in 1 2 3 4; do echo $n > own/$n-$i.txt; done; sleep 0.1";
const commit = `${beside}; git add own && git commit --quiet --message "command $n"`;
/** A merge that stops at a conflict, so that it stays in the session; then its end. */
const merge = [
  "echo begun; n=$(date +%N); mkdir -p own; git switch --quiet --create side; echo side $n > own/both.txt",
  "git add own/both.txt; git commit --quiet --message side; git switch --quiet -; echo here $n > own/both.txt",
  "git add own/both.txt; git commit --quiet --message here; git merge --quiet side; git branch -D side; sleep 0.1",
].join("\n");
const mergeEnds = "echo begun; echo both > own/both.txt; git add own/both.txt; git commit --quiet --message merged";
/** What each kind of round has the model run, a turn after the other. */
const kinds = [
  { name: "the same files", commands: [ofFiles] },
  { name: "other files", commands: [beside] },
  { name: "other files, and a commit", commands: [commit] },
  { name: "a merge with a conflict", commands: [merge, mergeEnds] },
];

const files = Object.fromEntries(
  ["between.txt", ...Array.from({ length: 12 }, (_, index) => `src/${index + 1}.txt`)].map((path) => [path, "first\n"]),
);

/**
 * Lets a user save, create, rename, remove and commit while staged commands run and are made true, and looks whether all of
 * that is there afterwards.
 */
export async function meanwhile({ rounds, seed, onRound }: CrashOptions): Promise<void> {
  const random = randomNumbers(seed);
  await using server = await startTestServer({
    files,
    script: kinds.flatMap(({ name, commands }) =>
      commands.map((command, index) => ({ match: `^${name} ${index}$`, steps: [bash(command), { text: ["Done."] }] })),
    ),
    server: { commands: "staged" },
  });
  const { git } = server.workspace;
  await git("config", "user.name", "Test");
  await git("config", "user.email", "test@example.com");
  for (let round = 0; round < rounds; round += 1) {
    const user = new User(server, { round, random });
    const { name, commands } = kinds[round % kinds.length] ?? { name: "", commands: [] };
    const texts = commands.map((_command, index) => `${name} ${index}`);
    const heard = await inTime(user.worksDuring(texts), () => `round ${round} of seed ${seed}`);
    try {
      await user.expectAll();
      await git("fsck", "--strict");
    } catch (cause) {
      throw new Error(`Round ${round} of seed ${seed}, the command was ${heard}`, { cause });
    }
    onRound?.(round, `${name}: ${heard}`);
  }
}

/** Works until it is told that it is enough, and knows what it did last. */
class User {
  readonly #server: TestServer;
  readonly #round: number;
  readonly #random: () => number;
  /** Text of each file that was saved; undefined for one that was removed. */
  readonly #saved = new Map<string, string | undefined>();
  readonly #committed: string[] = [];
  /** Who saves without git leaves commands of git's something to keep. */
  readonly #usesGit: boolean;
  #count = 0;

  constructor(server: TestServer, { round, random }: { readonly round: number; readonly random: () => number }) {
    this.#server = server;
    this.#round = round;
    this.#random = random;
    this.#usesGit = random() < 0.5;
  }

  /** From when the first command says that it began, until a moment after the last turn. Gives whether what they did was kept. */
  async worksDuring(texts: readonly string[]): Promise<string> {
    const sessionId = await startSession(this.#server);
    const over = { is: false };
    let working: Promise<void> | undefined;
    let heard = "without a result";
    for (const userInput of texts) {
      for await (const event of this.#server.client.invoke({ sessionId, userInput })) {
        if (event.event.case === "toolOutputDelta") working ??= this.#work(over);
        for (const { error, output } of eventsOf([event], "toolResult")) {
          heard =
            error === ""
              ? "kept"
              : /changed|stale|locked|index|throws away|saved while/.test(`${error}${output}`)
                ? "not kept"
                : (error.split("\n", 1)[0] ?? "");
        }
      }
    }
    over.is = true;
    await working;
    assert.ok(working !== undefined, `the command never said that it began: ${heard}`);
    return heard;
  }

  async expectAll(): Promise<void> {
    const { workspace } = this.#server;
    for (const [path, wanted] of this.#saved) {
      const at = workspace.path(path);
      const now = existsSync(at) ? readFileSync(at, "utf8") : undefined;
      if (wanted !== undefined) assert.equal(now, wanted, path);
      // What a command had changed before the user removed it looks like a file that the command made.
      else assert.ok(now === undefined || now.endsWith("command\n"), `${path} came back: ${now}`);
    }
    const log = (await workspace.git("log", "--format=%s")).split("\n");
    assert.equal(await workspace.git("stash", "list"), "");
    assert.doesNotMatch(await workspace.git("status"), /merging|unmerged|detached/);
    for (const subject of this.#committed) assert.ok(log.includes(subject), `the commit ${subject} is gone`);
  }

  async #work(over: { is: boolean }): Promise<void> {
    // Now and then somebody is in the way for certain.
    if (this.#round % 6 === 0) this.#save("between.txt", `user ${this.#round}\n`);
    while (!over.is || this.#count < 3) {
      this.#count += 1;
      const text = `user ${this.#round} ${this.#count}\n`;
      // Now and then a name that the command works on, too.
      const number = this.#random() < 0.1 ? Math.ceil(this.#random() * 12) : 100 + (this.#count % 20);
      await this.#act(`src/${number}.txt`, text);
      await sleep(this.#random() * 15);
    }
  }

  #save(path: string, text: string): void {
    writeFileSync(this.#server.workspace.path(path), text);
    this.#saved.set(path, text);
  }

  async #act(path: string, text: string): Promise<void> {
    const at = (name: string): string => this.#server.workspace.path(name);
    const what = Math.floor(this.#random() * 6);
    mkdirSync(dirname(at(path)), { recursive: true });
    if (what <= 1) this.#save(path, text);
    else if (what === 2) {
      writeFileSync(at("src/.swap"), text);
      renameSync(at("src/.swap"), at(path));
      this.#saved.set(path, text);
    } else if (what === 3) {
      const known = this.#saved.get(path);
      if (known === undefined) return;
      renameSync(at(path), at(`${path}.moved`));
      this.#saved.set(`${path}.moved`, known).set(path, undefined);
    } else if (what === 4) {
      rmSync(at(path), { force: true });
      this.#saved.set(path, undefined);
    } else if (this.#usesGit) {
      await this.#useGit(`user-${this.#round}-${this.#count}`);
    }
  }

  async #useGit(name: string): Promise<void> {
    const { git } = this.#server.workspace;
    await this.#commit(name);
    const what = this.#random();
    // Each of them moves HEAD, or writes the index.
    if (what < 0.2) await asGitLets(() => git("commit", "--quiet", "--amend", "--no-edit"));
    else if (what < 0.4) await asGitLets(() => git("switch", "--quiet", "--create", name));
    else if (what < 0.6) {
      this.#save(`${name}.txt`, `${name} again`);
      if (!(await asGitLets(() => git("stash", "push", "--quiet", "--", `${name}.txt`)))) return;
      while (!(await asGitLets(() => git("stash", "pop", "--quiet")))) await sleep(5);
    } else if (what < 0.9) await this.#rebase();
  }

  /** Makes the last commit once more, and half of the time stops at it for a while; what is not committed is put aside meanwhile. */
  async #rebase(): Promise<void> {
    const { git, path } = this.#server.workspace;
    const rebase = (...args: readonly string[]) =>
      git("-c", "core.editor=true", "-c", "sequence.editor=sed -i s/^pick/edit/", "rebase", ...args).then(
        () => true,
        () => false,
      );
    const how = this.#random() < 0.5 ? "--force-rebase" : "--interactive";
    await rebase("--quiet", "--autostash", "--rebase-merges", how, "HEAD~1");
    await sleep(this.#random() * 100);
    while (existsSync(path(".git/rebase-merge"))) if (!(await rebase("--continue"))) await rebase("--abort");
  }

  /** As a user does: git says when another one is at it, and then there is no commit. */
  async #commit(name: string): Promise<void> {
    const { git, write } = this.#server.workspace;
    await write(`${name}.txt`, name);
    this.#saved.set(`${name}.txt`, name);
    const isCommitted = await asGitLets(async () => {
      await git("add", `${name}.txt`);
      await git("commit", "--quiet", "--message", name, "--", `${name}.txt`);
    });
    if (isCommitted) this.#committed.push(name);
  }
}

/** False where git said that another one is at it. */
async function asGitLets(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    assert.match(String(error), /lock|unable to|index/i);
    return false;
  }
}
