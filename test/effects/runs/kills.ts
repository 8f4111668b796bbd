import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { AgentClient } from "@gennai/client/connection/connection";
import { verifyWorkspaceLedger } from "@gennai/store/audit/ledger-verify";
import { bash } from "@gennai/testkit/scripted-steps";
import {
  type TemporaryRepository,
  temporaryDirectory,
  temporaryRepository,
} from "@gennai/testkit/temporary-repository";
import * as z from "zod";
import { type CrashOptions, randomNumbers } from "../../crash/crash-options.ts";
import { killProcess } from "../../crash/kill-process.ts";
import { untilNobodySeesBelow } from "../look/sees-below.ts";
import { differences, treeState } from "../look/tree-state.ts";
import { inTime } from "./in-time.ts";
import { clientOf, FollowedTurn, type Served, serve } from "./killed-server.ts";

/** Many names of every kind, and a commit; each run of it makes everything once more, so that there is always something to do. */
const command = [
  "n=$(( $(cat round.txt) + 1 )); for i in $(seq 30); do echo $n >> src/$i.txt; done; echo $n > round.txt",
  "rm -r made-$((n-1)); mkdir -p made-$n/deep; for i in $(seq 12); do echo $n > made-$n/deep/$i.txt; done; rm -f only-$((n-1)).txt",
  "echo $n > only-$n.txt; chmod $((n % 2 ? 755 : 644)) src/1.txt; ln -sfn src/$((n % 9 + 1)).txt link.txt; mv src/40-$((n-1)).txt src/40-$n.txt",
  "git add --all && git commit --quiet --message round-$n",
].join("\n");

/** Leaves a merge with a conflict under way, which must stay in the session. */
const merge = "git merge --quiet other; echo under way > under-way.txt; true";
const mergeEnds = "git merge --abort; rm -f under-way.txt";
/** Ends it with a commit, so that refs, index and tree of all commands change at once. */
const merged =
  "echo merged > both.txt; rm under-way.txt; git add both.txt; git commit --quiet --message merged; git branch kept-merge";
/** Changes the end of files, of which the user changes the beginning. */
const edit = 'n=$(date +%N); for i in 1 2 3 4 5 6; do sed -i "s/^agent.*/agent $n/" saved/$i.txt; done';
const savedFiles = [1, 2, 3, 4, 5, 6].map((number) => `saved/${number}.txt`);

const files = Object.fromEntries([
  ["both.txt", "0\n"],
  ["round.txt", "0\n"],
  ["only-0.txt", "0\n"],
  ["made-0/deep/1.txt", "0\n"],
  ["src/40-0.txt", "0\n"],
  ...savedFiles.map((path) => [path, "user\n\n\n\nagent\n"]),
  ...Array.from({ length: 30 }, (_, index) => [`src/${index + 1}.txt`, "0\n"]),
]);

/** After so many, a world of its own begins. */
const roundsOfOneWorld = 20;

/**
 * Kills the server at random moments of a turn that runs a staged command, mostly while its changes are committed, and checks
 * what the next server finds: the tree as before or as after, no mounts, no remains of a stage, a ledger that verifies and has
 * an end for each call. Of a command that leaves a merge under way, the tree never shows anything, and the session goes on, until
 * one ends the merge. What a user saves meanwhile is there, merged with all of the command or with nothing of it.
 */
export async function kills({ rounds, seed, onRound }: CrashOptions): Promise<void> {
  const random = randomNumbers(seed);
  const aim = { inside: 20, merge: 1000, edit: 1000 };
  for (let first = 0; first < rounds; first += roundsOfOneWorld) {
    await using world = await KillWorld.open();
    for (let round = first; round < Math.min(rounds, first + roundsOfOneWorld); round += 1) {
      try {
        const kind = round === first ? 1 : random();
        const killed =
          kind < 0.2
            ? world.killMerge(random, aim)
            : kind < 0.35
              ? world.killMerged(random, aim)
              : kind < 0.6
                ? world.killSaved(random, aim)
                : world.killOnce(random, aim, round === first);
        const hit = await inTime(killed, () => world.step);
        onRound?.(round, hit);
      } catch (cause) {
        throw new Error(`Round ${round} of seed ${seed}`, { cause });
      }
    }
    await world.end();
  }
}

/** Milliseconds, as far as is known. */
interface Aim {
  /** From the first rename to the end of the turn. */
  inside: number;
  /** A turn with a command that leaves a merge. */
  merge: number;
  /** From the beginning of a turn that edits files to its commit. */
  edit: number;
}

class KillWorld implements AsyncDisposable {
  readonly #workspace: TemporaryRepository;
  readonly #stateDir: string;
  readonly #client: AgentClient;
  readonly #parts: AsyncDisposableStack;
  readonly #start: () => Promise<Served>;
  #child: ChildProcess;
  /** What a round is at. */
  step = "";

  static async open(): Promise<KillWorld> {
    await using parts = new AsyncDisposableStack();
    const state = parts.use(await temporaryDirectory());
    const workspace = parts.use(await temporaryRepository(files));
    await workspace.git("checkout", "--quiet", "-b", "work");
    await workspace.git("config", "user.name", "Test");
    await workspace.git("config", "user.email", "test@example.com");
    for (const branch of ["other", "work"]) {
      await workspace.git("checkout", "--quiet", "-B", branch, "main");
      await workspace.write("both.txt", `${branch}\n`);
      await workspace.git("commit", "--quiet", "--all", "--message", branch);
    }
    const turns = Object.entries({ go: command, merge, "the end": mergeEnds, merged, edit }).map(([match, text]) => {
      return { match: `^${match}$`, steps: [bash(text), { text: ["Done."] }] };
    });
    await state.write("script.yaml", JSON.stringify({ turns }));
    const options = { script: state.path("script.yaml"), stateDir: state.path("state"), workspace: workspace.root };
    const first = await serve({ ...options, port: 0 });
    const start = () => serve({ ...options, port: first.port });
    return new KillWorld({ workspace, first, start, stateDir: options.stateDir, parts: parts.move() });
  }

  private constructor(options: {
    readonly workspace: TemporaryRepository;
    readonly first: Served;
    readonly start: () => Promise<Served>;
    readonly stateDir: string;
    readonly parts: AsyncDisposableStack;
  }) {
    this.#workspace = options.workspace;
    this.#stateDir = options.stateDir;
    this.#start = options.start;
    this.#parts = options.parts;
    this.#child = options.first.child;
    this.#client = clientOf(options.first);
  }

  /** Gives what the kill hit. @param atOnce as soon as the commit begins */
  async killOnce(random: () => number, aim: Aim, atOnce: boolean): Promise<string> {
    const { root } = this.#workspace;
    const before = treeState(root);
    const next = Number(await this.#workspace.read("round.txt")) + 1;
    this.step = "a session begins";
    const { sessionId } = await this.#client.startSession({ interactive: false });
    const turn = new FollowedTurn(this.#client, sessionId, "go");
    const isAimed = atOnce || random() < 0.75;
    this.step = "the command runs";
    if (isAimed) await this.#untilCommit(turn);
    assert.ok(!turn.isOver || turn.hasEnded, `The turn ended without a result: ${turn.failure}`);
    const until = performance.now() + (atOnce ? 0 : random()) * (isAimed ? aim.inside : 400);
    while (performance.now() < until) await nextTurn();
    const { hasEnded } = turn;
    const isCommitting = this.#isCommitting();
    this.step = "the server is killed";
    await this.#kill(turn);
    if (isAimed) aim.inside = Math.max(2, aim.inside * (hasEnded ? 0.8 : 1.1));
    const isAfter = differences(before, treeState(root)).length > 0;
    if (isAfter) await this.#expectRound(next);
    assert.equal(turn.failure, "");
    assert.ok(isAfter || !hasEnded, "The turn had ended, and nothing of it is there.");
    assert.deepEqual(this.#leftovers(), []);
    this.step = "somebody comes back to the session";
    await this.#client.resumeSession({ sessionId });
    await this.#expectLedger();
    const where = hasEnded ? "after the turn" : isCommitting ? "in the commit" : "beside the commit";
    return `${where}: as ${isAfter ? "after" : "before"}`;
  }

  /** The same for a command that leaves a merge, which then ends in the same session. */
  async killMerge(random: () => number, aim: Aim): Promise<string> {
    const before = treeState(this.#workspace.root);
    this.step = "a session begins";
    const { sessionId } = await this.#client.startSession({ interactive: false });
    const turn = new FollowedTurn(this.#client, sessionId, "merge");
    this.step = "the command merges";
    const until = performance.now() + random() * aim.merge;
    while (performance.now() < until) await sleep(1);
    const { hasEnded } = turn;
    await this.#kill(turn);
    aim.merge *= hasEnded ? 0.9 : 1.1;
    assert.deepEqual(differences(before, treeState(this.#workspace.root)), []);
    this.step = "the merge ends";
    await this.#client.resumeSession({ sessionId });
    const end = new FollowedTurn(this.#client, sessionId, "the end");
    await end.ended;
    assert.ok(end.hasEnded);
    // It says that there is no merge to end if the kill came before there was one.
    assert.ok(end.failure === "" || !hasEnded, end.failure);
    assert.deepEqual(differences(before, treeState(this.#workspace.root)), []);
    const stages = readdirSync(join(this.#stateDir, "stages"));
    assert.deepEqual(
      stages.filter((name) => name.endsWith(".open.json")),
      [],
    );
    return `${hasEnded ? "after" : "in"} a turn that leaves a merge: as before`;
  }

  /** The same for a command that ends a merge of the session's. */
  async killMerged(random: () => number, aim: Aim): Promise<string> {
    const { git, root } = this.#workspace;
    const before = treeState(root);
    const refs = await git("for-each-ref");
    this.step = "a merge begins";
    const { sessionId } = await this.#client.startSession({ interactive: false });
    await new FollowedTurn(this.#client, sessionId, "merge").ended;
    const turn = new FollowedTurn(this.#client, sessionId, "merged");
    this.step = "the merge is committed";
    await this.#untilCommit(turn);
    const until = performance.now() + random() * aim.inside;
    while (performance.now() < until) await nextTurn();
    const { hasEnded } = turn;
    await this.#kill(turn);
    assert.equal(turn.failure, "");
    await git("fsck", "--strict");
    assert.equal(await git("status", "--porcelain"), "");
    const isAfter = (await git("for-each-ref")) !== refs;
    this.step = "somebody comes back to the session";
    await this.#client.resumeSession({ sessionId });
    if (isAfter) {
      assert.equal(await this.#workspace.read("both.txt"), "merged\n");
      assert.equal(await git("rev-parse", "HEAD", "HEAD^2"), await git("rev-parse", "kept-merge", "other"));
      await git("reset", "--quiet", "--hard", "HEAD^1");
      await git("branch", "--quiet", "-D", "kept-merge");
    } else {
      assert.ok(!hasEnded, "The turn had ended, and nothing of it is there.");
      await new FollowedTurn(this.#client, sessionId, "the end").ended;
    }
    assert.deepEqual(differences(before, treeState(root)), []);
    assert.equal(await git("for-each-ref"), refs);
    return `${hasEnded ? "after" : "in"} the commit of a merge: as ${isAfter ? "after" : "before"}`;
  }

  /** The same beside a user who saves one of the files while the command runs, or is looked at, or committed. */
  async killSaved(random: () => number, aim: Aim): Promise<string> {
    const at = savedFiles.map((path) => this.#workspace.path(path));
    const [saved = "", ...others] = at;
    const was = readFileSync(saved, "utf8");
    const agentOf = (path: string): string => readFileSync(path, "utf8").trimEnd().split("\n").at(-1) ?? "";
    const own = `user ${random()}`;
    this.step = "a session begins";
    const { sessionId } = await this.#client.startSession({ interactive: false });
    const begun = performance.now();
    const turn = new FollowedTurn(this.#client, sessionId, "edit");
    this.step = "somebody saves while files are edited";
    const until = begun + aim.edit * (0.7 + 0.4 * random());
    while (performance.now() < until && !turn.hasEnded) await sleep(1);
    const isLate = turn.hasEnded;
    const [, ...rest] = (isLate ? readFileSync(saved, "utf8") : was).split("\n");
    writeFileSync(`${saved}~`, [own, ...rest].join("\n"));
    renameSync(`${saved}~`, saved);
    if (random() < 0.5) await this.#untilCommit(turn);
    const end = performance.now() + random() * aim.inside;
    while (performance.now() < end) await nextTurn();
    aim.edit *= isLate ? 0.9 : 1.05;
    await this.#kill(turn);
    const [first, ...more] = new Set(others.map(agentOf));
    assert.deepEqual(more, [], "Some of the files are as before, and some as after.");
    assert.equal(readFileSync(saved, "utf8").split("\n", 1)[0], own, "What the user saved is gone.");
    const isAfter = first !== was.trimEnd().split("\n").at(-1);
    if (!isAfter) assert.equal(readFileSync(saved, "utf8"), [own, ...rest].join("\n"));
    assert.deepEqual(this.#leftovers(), []);
    await this.#client.resumeSession({ sessionId });
    await this.#expectLedger();
    const isMerged = agentOf(saved) === first;
    for (const path of at) writeFileSync(path, "user\n\n\n\nagent\n");
    return `beside a save: as ${isAfter ? `after, ${isMerged ? "merged" : "and saved on top"}` : "before"}`;
  }

  /** Or until the turn has a result. Without a pause, the look would take a processor from what it waits for. */
  async #untilCommit(turn: FollowedTurn): Promise<void> {
    while (!turn.isOver && !turn.hasEnded && !this.#isCommitting()) await sleep(1);
  }

  async #kill(turn: FollowedTurn): Promise<void> {
    await killProcess(this.#child);
    await turn.ended;
    this.step = "the mounts go";
    await untilNobodySeesBelow(this.#stateDir);
    this.step = "the next server starts";
    this.#child = (await this.#start()).child;
  }

  /** A last one is left alone, and works in the tree that the others left. */
  async end(): Promise<void> {
    const next = Number(await this.#workspace.read("round.txt")) + 1;
    const { sessionId } = await this.#client.startSession({ interactive: false });
    await new FollowedTurn(this.#client, sessionId, "go").ended;
    await this.#expectRound(next);
    await this.#workspace.git("fsck", "--strict");
  }

  /** Everything is as the command of that round makes it, and nothing else is there. */
  async #expectRound(number: number): Promise<void> {
    const { root } = this.#workspace;
    const lastLine = (path: string): string =>
      readFileSync(join(root, path), "utf8").trimEnd().split("\n").at(-1) ?? "";
    const names = readdirSync(root).filter((name) => /^(?:made|only)/.test(name));
    assert.deepEqual(names.toSorted(), [`made-${number}`, `only-${number}.txt`]);
    for (let index = 1; index <= 30; index += 1) assert.equal(lastLine(`src/${index}.txt`), String(number));
    assert.equal(readdirSync(join(root, `made-${number}/deep`)).length, 12);
    assert.ok(existsSync(join(root, `src/40-${number}.txt`)));
    assert.equal(readlinkSync(join(root, "link.txt")), `src/${(number % 9) + 1}.txt`);
    assert.equal(await this.#workspace.git("log", "--format=%s", "--max-count=1"), `round-${number}`);
    assert.equal(await this.#workspace.git("status", "--porcelain"), "");
  }

  #isCommitting(): boolean {
    const stages = join(this.#stateDir, "stages");
    if (!existsSync(stages)) return false;
    return readdirSync(stages).some((id) => existsSync(join(stages, id, "committing.json")));
  }

  /** What a stage left beside the work tree, in it, or in the state directory. */
  #leftovers(): readonly string[] {
    const { root } = this.#workspace;
    const stages = join(this.#stateDir, "stages");
    return [
      ...(existsSync(stages) ? readdirSync(stages) : []),
      ...readdirSync(join(root, "..")).filter((name) => name.startsWith(".gennai-stage")),
      ...readdirSync(root, { recursive: true })
        .map(String)
        .filter((path) => /\.gennai-|\.lock$/.test(path)),
    ];
  }

  /** It verifies, and has an end for each turn that began to change something. */
  async #expectLedger(): Promise<void> {
    const location = { workspaceRoot: this.#workspace.root, stateDir: this.#stateDir };
    for (let tries = 0; ; tries += 1) {
      const { status, message, file } = await verifyWorkspaceLedger(location);
      const unsaid = status === "ok" ? unsaidTurns(existsSync(file) ? readFileSync(file, "utf8") : "") : [message];
      if (status === "ok" && unsaid.length === 0) return;
      // The server writes the file a moment after the store.
      assert.ok(tries < 20, `${status}: ${unsaid.join(", ")}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await killProcess(this.#child);
    await this.#parts.disposeAsync();
  }
}

/** Turns with an intent that no outcome follows. */
function unsaidTurns(ledger: string): readonly string[] {
  const record = z.looseObject({ metadata: z.looseObject({ kind: z.string(), turn_id: z.string().optional() }) });
  const open = new Set<string>();
  for (const line of ledger.split("\n").filter((text) => text !== "")) {
    const { kind, turn_id: turnId = "" } = record.parse(JSON.parse(line)).metadata;
    if (kind === "intent") open.add(turnId);
    if (kind === "outcome") open.delete(turnId);
  }
  return [...open];
}
