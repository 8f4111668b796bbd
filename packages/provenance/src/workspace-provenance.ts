import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { git } from "@gennai/git/run/run-git";
import { bundleRecords } from "@gennai/governance/ledger/verify-bundle";
import { verifyLedgerBundle } from "@gennai/store/audit/ledger-bundle";
import { ledgerLines } from "@gennai/store/audit/ledger-export";
import { verifyWorkspaceLedger } from "@gennai/store/audit/ledger-verify";
import { keptContents } from "./kept-contents.ts";
import { KnownText } from "./matching/known-text.ts";
import type { Match, Method } from "./matching/passage.ts";
import type { RecordedWrite } from "./matching/recorded-write.ts";
import { linesOf, squeezed, tells } from "./matching/text-lines.ts";
import { readNotedLines } from "./noted-lines.ts";
import { type AskedCall, readDecisions } from "./read-decisions.ts";
import { readWrites } from "./read-writes.ts";

/** The source of a line. */
export type LineOrigin =
  | {
      readonly type: "recorded";
      readonly write: RecordedWrite;
      readonly method: Method;
      /** 0 to 1: about the share of such answers that were right where that was measured. */
      readonly confidence: number;
    }
  | {
      readonly type: "unknown";
      /**
       * `outside`: it was there before the agent, or was changed since, and no recorded write contains it. `ambiguous`: several
       * writes may have added it. `not-recorded`: nothing recorded is similar.
       */
      readonly reason: "outside" | "ambiguous" | "not-recorded";
      /** The writes that may have added it. */
      readonly candidates: readonly RecordedWrite[];
    };

/** Whether the evidence behind the answers equals what was signed. */
export interface ProvenanceTrust {
  /** `ok`, or the result of `gennai ledger verify`. */
  readonly status: string;
  readonly message: string;
  /**
   * `store`: this machine's own ledger. `bundle`: checked with the key that was named; `bundle-own-key`: with its own alone. `notes`: git's
   * notes, those that the named key signed; `unchecked-notes`: all, no matter who wrote them.
   */
  readonly source: "store" | "bundle" | "bundle-own-key" | "notes" | "unchecked-notes";
}

export interface ProvenanceSource {
  /** Real absolute path of the working tree. */
  readonly workspaceRoot: string;
  readonly stateDir: string;
  /** An exported bundle in place of this machine's ledger. */
  readonly bundle?: { readonly file: string; readonly publicKeyFile?: string | undefined } | undefined;
  /** What git's notes say, in place of this machine's ledger. */
  readonly notes?: { readonly publicKeyFile?: string | undefined } | undefined;
}

/** Who wrote the lines of a workspace's files, by its ledger and what is left of the contents that it names. Changes nothing. */
export class WorkspaceProvenance {
  readonly trust: ProvenanceTrust;
  /** In the order of the ledger. */
  readonly writes: readonly RecordedWrite[];
  /** What people were asked, and what was refused, in the order of the ledger; notes tell nothing of it. */
  readonly decisions: readonly AskedCall[];
  readonly #workspaceRoot: string;
  readonly #known: KnownText;
  /** Writes whose contents are no longer stored: known only by the hashes of their blocks. */
  readonly #byHash: ReadonlyMap<number, RecordedWrite>;

  private constructor(
    workspaceRoot: string,
    trust: ProvenanceTrust,
    writes: readonly RecordedWrite[],
    known: { readonly text: KnownText; readonly byHash: ReadonlyMap<number, RecordedWrite> },
    decisions: readonly AskedCall[],
  ) {
    this.trust = trust;
    this.writes = writes;
    this.decisions = decisions;
    this.#workspaceRoot = workspaceRoot;
    this.#known = known.text;
    this.#byHash = known.byHash;
  }

  /** Rejects with `StoreError`, and with errors of reading files. */
  static async open(source: ProvenanceSource): Promise<WorkspaceProvenance> {
    const { workspaceRoot, stateDir } = source;
    if (source.notes !== undefined) {
      const { trust, writes, text } = await readNotedLines(workspaceRoot, source.notes.publicKeyFile);
      return new WorkspaceProvenance(workspaceRoot, trust, writes, { text, byHash: new Map() }, []);
    }
    const { trust, lines: read } = await recordsOf(source);
    const lines = [...read];
    const writes = readWrites(lines);
    const wanted = new Set(writes.flatMap(({ beforeSha256, afterSha256 }) => [beforeSha256 ?? "", afterSha256 ?? ""]));
    wanted.delete("");
    const contents = await keptContents(wanted, {
      stateDir,
      workspaceRoot,
      paths: new Set(writes.map(({ path }) => path)),
    });
    return new WorkspaceProvenance(workspaceRoot, trust, writes, await played(writes, contents), readDecisions(lines));
  }

  /** One answer for each line of a file. @param path relative to the workspace */
  async originsOf(path: string, text: string): Promise<readonly LineOrigin[]> {
    const matches = this.#known.match(text, await pathsOf(this.#workspaceRoot, path));
    return matchBlocks(text, matches, this.#byHash).map((match) => this.#originOf(match));
  }

  /** The present names in git of files that had these names. */
  async namesOf(paths: ReadonlySet<string>): Promise<readonly string[]> {
    return laterNames(this.#workspaceRoot, paths);
  }

  #originOf(match: Match): LineOrigin {
    if (match.type === "outside") return { type: "unknown", reason: "outside", candidates: [] };
    if (match.type === "unknown") {
      const candidates = match.candidates.flatMap((write) => this.writes[write] ?? []);
      return { type: "unknown", reason: match.reason, candidates };
    }
    const write = this.writes[match.write];
    if (write === undefined) throw new TypeError(`There is no write ${match.write}.`);
    return { type: "recorded", write, method: match.method, confidence: match.confidence };
  }
}

/** What is known of the text of writes. Gives way to others again and again: a server does this while sessions go on. */
async function played(
  writes: readonly RecordedWrite[],
  contents: ReadonlyMap<string, string>,
): Promise<{ readonly text: KnownText; readonly byHash: ReadonlyMap<number, RecordedWrite> }> {
  const text = new KnownText();
  const byHash = new Map<number, RecordedWrite>();
  const textOf = (sha256: string | undefined): string | undefined =>
    sha256 === undefined ? undefined : contents.get(sha256);
  for (const [number, write] of writes.entries()) {
    const { path, operation, isUndo, edited, seq: record } = write;
    const [before, after] = [textOf(write.beforeSha256), textOf(write.afterSha256)];
    // What it found is not there to compare with: then which lines it brought cannot be told from the whole.
    const isWhole = write.beforeSha256 === undefined || before !== undefined;
    if (isWhole) text.add({ write: number, record, path, operation, before, after, isUndo, edited });
    // The block that an undo put back is of the write that has it first.
    if (!isUndo && (!isWhole || after === undefined)) byHash.set(number, write);
    await setImmediate();
  }
  return { text, byHash };
}

async function recordsOf({
  workspaceRoot,
  stateDir,
  bundle,
}: ProvenanceSource): Promise<{ readonly trust: ProvenanceTrust; readonly lines: Iterable<string> }> {
  if (bundle === undefined) {
    const { status, message } = await verifyWorkspaceLedger({ workspaceRoot, stateDir });
    return { trust: { status, message, source: "store" }, lines: ledgerLines({ stateDir, workspaceRoot }) };
  }
  const open = () => createReadStream(bundle.file);
  const key = bundle.publicKeyFile === undefined ? undefined : await readFile(bundle.publicKeyFile, "utf8");
  const { status, message } = await verifyLedgerBundle(open, key);
  const source = key === undefined ? "bundle-own-key" : "bundle";
  return { trust: { status, message, source }, lines: await Array.fromAsync(bundleRecords(open)) };
}

/** Paths that a file had, its own among them, as git's history shows renames and copies. Without git, its own alone. */
async function pathsOf(workspaceRoot: string, path: string): Promise<ReadonlySet<string>> {
  const paths = new Set([path]);
  const log = ["log", "--follow", "--find-copies", "--name-status", "--format=", "-z", "--max-count=2000"];
  const { code, stdout } = await git([...log, "--", path], { directory: workspaceRoot }).catch(() => ({
    code: 1,
    stdout: "",
  }));
  if (code !== 0) return paths;
  const words = stdout.split("\0");
  for (let at = 0; at < words.length; at += 1) {
    // `R086`, then the old name and the new one.
    if (!/^\n?[RC]\d+$/.test(words[at] ?? "")) continue;
    for (const name of [words[at + 1], words[at + 2]]) if (name !== undefined && name !== "") paths.add(name);
  }
  return paths;
}

/** Names that files have had since, as git's history and its index show renames. None without git. */
async function laterNames(workspaceRoot: string, paths: ReadonlySet<string>): Promise<readonly string[]> {
  const renames = [
    ["log", "--reverse", "--diff-filter=R", "--find-renames", "--name-status", "--format=", "-z", "--max-count=2000"],
    ["diff", "HEAD", "--diff-filter=R", "--find-renames", "--name-status", "-z"],
  ];
  const names = new Set<string>();
  for (const command of renames) {
    const { code, stdout } = await git(command, { directory: workspaceRoot }).catch(() => ({ code: 1, stdout: "" }));
    if (code !== 0) continue;
    const words = stdout.split("\0");
    for (let at = 0; at < words.length; at += 1) {
      // `R086`, then the old name and the new one.
      if (!/^\n?R\d+$/.test(words[at] ?? "")) continue;
      const [from = "", to = ""] = words.slice(at + 1, at + 3);
      if (to !== "" && (paths.has(from) || names.has(from))) names.add(to);
      at += 2;
    }
  }
  return [...names];
}

/** Minimum characters of a block to be attributed to a write: shorter ones may be anyone's. */
const enough = 14;
/** Blocks of more different lengths are not looked for. */
const mostLengths = 200;

/**
 * Attributes lines in a block whose hash is recorded: for writes whose contents are no longer stored. Already matched lines
 * stay. A block of several writes is ambiguous.
 */
function matchBlocks(
  text: string,
  matches: readonly Match[],
  writes: ReadonlyMap<number, RecordedWrite>,
): readonly Match[] {
  const byHash = new Map<string, Set<number>>();
  const lengths = new Set<number>();
  for (const [write, { blocks }] of writes) {
    for (const { startLine, endLine, sha256 } of blocks) {
      const length = endLine - startLine + 1;
      if (length < 1 || (lengths.size >= mostLengths && !lengths.has(length))) continue;
      lengths.add(length);
      byHash.set(sha256, (byHash.get(sha256) ?? new Set()).add(write));
    }
  }
  const lines = linesOf(text);
  const filled = [...matches];
  // The longest say the most.
  for (const length of [...lengths].sort((one, other) => other - one)) {
    for (let first = 0; first + length <= lines.length; first += 1) {
      const isOpen = filled.slice(first, first + length).some((match) => match.type === "unknown");
      if (!isOpen) continue;
      const block = lines.slice(first, first + length);
      const made = byHash.get(createHash("sha256").update(block.join("\n"), "utf8").digest("hex"));
      if (made === undefined || block.reduce((sum, line) => sum + tells(squeezed(line)), 0) < enough) continue;
      const [write] = made;
      for (let at = first; at < first + length; at += 1) {
        if (filled[at]?.type !== "unknown" || write === undefined) continue;
        filled[at] =
          made.size === 1
            ? { type: "write", write, method: "block-hash", confidence: 0.97 }
            : { type: "unknown", reason: "ambiguous", candidates: [...made] };
      }
    }
  }
  return filled;
}
