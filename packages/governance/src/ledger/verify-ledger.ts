import { digestOf } from "@gennai/protocol/digest";
import { LaidOutRecords } from "./laid-out-records.ts";
import { LedgerKeys } from "./ledger-keys.ts";
import { type FileLine, fileLines } from "./ledger-line.ts";
import { decodeSignature, isHeadGenuine, recordMessage, type SignedHead, type Verifier } from "./ledger-signature.ts";
import { decodeLine, type ReadRecord, readLedgerLine } from "./read-ledger-line.ts";

export type LedgerStatus =
  | "ok"
  /** Only records without signatures: an old ledger, or one whose signatures were removed. */
  | "unsigned"
  /** A record was changed, removed, repeated or moved. */
  | "broken_chain"
  | "bad_signature"
  | "unknown_key"
  /** The signed head knows of records that are not there. */
  | "truncated_tail"
  /** The last line is half a record and everything before it is sound: a crash while writing. */
  | "torn_last_line"
  | "malformed_line"
  | "missing_file";

export interface LedgerReport {
  readonly status: LedgerStatus;
  /** One sentence for people; names the place. */
  readonly message: string;
  /** The first invalid place. */
  readonly problem?: LedgerPosition;
  /** Sound signed records, and the last of them. */
  readonly records: number;
  readonly last?: { readonly seq: number; readonly hash: string; readonly endOffset: number };
  /** Sound records whose content is gone by a purge that the ledger reports. */
  readonly purged: number;
  /** Records without a signature before the first signed one. */
  readonly unsigned: number;
  /** Accepted losses of signed records, as recorded in the ledger itself. */
  readonly rollbacks: readonly { readonly seq: number; readonly from: number; readonly to: number }[];
  /**
   * Oddities that are no proof of tampering: line ends, old lines that were cut or joined, old records over several lines
   * (once). At most 100.
   */
  readonly notes: readonly (LedgerPosition & { readonly code: LedgerNote })[];
}

export type LedgerNote =
  | "byte_order_mark"
  | "carriage_return"
  | "unterminated"
  | "cut"
  | "glued"
  | "laid_out"
  | "earlier_ledger";

export interface LedgerPosition {
  /** The seq expected there; 0 among unsigned lines. */
  readonly seq: number;
  /** Bytes from the start of the file. */
  readonly offset: number;
  /** 1-based. */
  readonly line: number;
}

export interface LedgerExpectations {
  readonly verifier: Verifier;
  /** From outside the workspace; without it a cut tail cannot be seen. */
  readonly head?: SignedHead;
  /** SHA-256 of the workspace's root path, if the ledger must belong to it. */
  readonly workspace?: string;
  /** Seqs of records that were handed over without their content. */
  readonly withheld?: ReadonlySet<number>;
  /** True: the text before the first record was not supplied. */
  readonly preambleLeftOut?: boolean;
}

/** Checks a whole ledger file, given as its bytes. Never throws for what is in the file. */
export async function verifyLedger(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  expectations: LedgerExpectations,
): Promise<LedgerReport> {
  const check = new LedgerCheck(expectations);
  for await (const line of fileLines(chunks)) await check.line(line);
  return check.finish();
}

interface Problem {
  readonly status: Exclude<LedgerStatus, "ok">;
  readonly message: string;
  readonly at: LedgerPosition;
}

const maxNotes = 100;

class LedgerCheck {
  readonly #expectations: LedgerExpectations;
  readonly #notes: (LedgerPosition & { readonly code: LedgerNote })[] = [];
  #problem: Problem | undefined;
  /** The first line before any signed record that was not a record at all: an old one cut off, or ours broken. */
  #firstCut: Problem | undefined;
  #last: { readonly seq: number; readonly hash: string; readonly endOffset: number } | undefined;
  #records = 0;
  #purged = 0;
  /** Records without content for which no later tombstone has been found yet. */
  readonly #untold = new Map<number, LedgerPosition>();
  #unsigned = 0;
  readonly #laidOut = new LaidOutRecords<{ readonly line: FileLine; readonly at: LedgerPosition }>();
  #rollbacks: LedgerReport["rollbacks"][number][] = [];
  #hashAtHead: string | undefined;
  #end: LedgerPosition = { seq: 0, offset: 0, line: 1 };

  #keys: LedgerKeys;

  constructor(expectations: LedgerExpectations) {
    this.#expectations = expectations;
    this.#keys = new LedgerKeys(expectations.verifier);
  }

  async line(line: FileLine): Promise<void> {
    const at = { seq: this.#last === undefined ? 0 : this.#last.seq + 1, offset: line.offset, line: line.number };
    this.#end = { ...at, offset: line.offset + line.size, line: line.number + 1 };
    const decoded = line.tooLong ? undefined : decodeLine(line);
    if (decoded === undefined) return this.#malformed(line.tooLong ? "is too long" : "is not UTF-8", line, at);
    if (decoded.byteOrderMark) this.#note("byte_order_mark", at);
    if (decoded.carriageReturn) this.#note("carriage_return", at);
    if (this.#last === undefined && this.#isLaidOut(decoded.text, line, at)) return;
    const read = readLedgerLine(decoded.text);
    switch (read.type) {
      case "record":
        if (!line.terminated) this.#note("unterminated", at);
        return this.#record(read.record, line, at);
      case "malformed":
        return this.#malformed(read.reason, line, at);
      case "unsigned":
        if (this.#last !== undefined) return this.#fail("bad_signature", "carries no signature", at);
        this.#unsigned += read.records;
        if (read.note !== undefined) this.#note(read.note, at);
        return;
      case "blank":
        if (this.#last !== undefined) this.#malformed("is blank", line, at);
        return;
    }
  }

  /** True when the line is part of an old record over several lines; what was only taken for one is judged now. */
  #isLaidOut(text: string, line: FileLine, at: LedgerPosition): boolean {
    const taken = this.#laidOut.take({ line, at }, text);
    if (taken.type === "held") return true;
    if (taken.type === "whole") {
      this.#unsigned += taken.records.length;
      if (!this.#notes.some(({ code }) => code === "laid_out")) this.#note("laid_out", taken.first.at);
      return true;
    }
    // The last of them is this line, unless it is itself held.
    const isApart = taken.lines.at(-1)?.line === line;
    for (const held of taken.lines) if (held.line !== line) this.#malformed("is not JSON", held.line, held.at);
    return !isApart;
  }

  async finish(): Promise<LedgerReport> {
    const { head } = this.#expectations;
    for (const { line, at } of this.#laidOut.end()) this.#malformed("is not JSON", line, at);
    if (this.#records === 0 && this.#unsigned === 0) this.#problem ??= this.#firstCut;
    if (this.#problem === undefined || this.#problem.status === "torn_last_line") {
      this.#problem = (head && (await this.#headProblem(head))) ?? this.#problem;
    }
    const [untold] = this.#untold.values();
    if (this.#problem === undefined && untold !== undefined) {
      this.#fail("broken_chain", "lost its content, and no record of a purge says so", untold);
    }
    if (this.#problem === undefined && this.#records === 0 && this.#unsigned > 0) {
      const message = `None of the ${this.#unsigned} records is signed: this proves nothing about who wrote them.`;
      this.#problem = { status: "unsigned", message, at: { seq: 0, offset: 0, line: 1 } };
    }
    const status = this.#problem?.status ?? "ok";
    return {
      status,
      message:
        this.#problem?.message ?? `${this.#records} ${this.#records === 1 ? "record" : "records"}, chained and signed.`,
      ...(this.#problem === undefined ? {} : { problem: this.#problem.at }),
      records: this.#records,
      purged: this.#purged,
      ...(this.#last === undefined ? {} : { last: this.#last }),
      unsigned: this.#unsigned,
      rollbacks: this.#rollbacks,
      notes: this.#notes,
    };
  }

  async #record(record: ReadRecord, line: FileLine, at: LedgerPosition): Promise<void> {
    const { workspace, head, withheld } = this.#expectations;
    const bare = this.#expectations.preambleLeftOut === true && line.number === 1;
    const opens = record.genesis !== undefined && (bare || record.genesis.preamble_bytes === line.offset);
    // After the first problem only a new beginning is of interest: a signed one vouches for the bytes before it.
    if (this.#problem !== undefined && !opens) return;
    // A beginning claims the lines before it, so they are not its own first line gone bad.
    if (opens) this.#firstCut = undefined;
    const expectedSeq = opens ? 1 : (this.#last?.seq ?? 0) + 1;
    const place = { ...at, seq: expectedSeq };

    if (record.fixedHash !== record.hash || record.content === "changed")
      return this.#fail("broken_chain", "was changed after it was written", place);
    if (opens) this.#keys = new LedgerKeys(this.#expectations.verifier);
    if (this.#keys.isRetired(record.keyId)) {
      return this.#fail("unknown_key", "is signed with a key that was handed over to another one before", place);
    }
    const verifier = this.#keys.verifierOf(record.keyId);
    if (verifier === undefined) {
      return this.#fail("unknown_key", `is signed with an unknown key (${record.keyId.slice(0, 64)})`, place);
    }
    const signature = decodeSignature(record.signature);
    const message = recordMessage(record.hash);
    if (signature === undefined || !(await verifier.verify(record.keyId, message, signature))) {
      return this.#fail("bad_signature", "does not carry the signature of its key", place);
    }

    if (record.seq !== expectedSeq) {
      return this.#fail("broken_chain", `has seq ${record.seq} where ${expectedSeq} belongs`, place);
    }
    if (opens) {
      if (!bare && record.genesis.preamble_sha256 !== line.sha256Before()) {
        return this.#fail("broken_chain", "opens the ledger, but the text before it was changed", place);
      }
      if (record.previousHash !== digestOf(record.genesis)) {
        return this.#fail("broken_chain", "does not follow from its own beginning", place);
      }
      if (workspace !== undefined && record.genesis.workspace !== workspace) {
        return this.#fail(
          "broken_chain",
          "opens the ledger of another workspace (or of this one at another path)",
          place,
        );
      }
      if (this.#last !== undefined || this.#problem !== undefined) this.#note("earlier_ledger", place);
      this.#problem = undefined;
      this.#records = 0;
      this.#purged = 0;
      this.#untold.clear();
      this.#rollbacks = [];
      this.#hashAtHead = undefined;
    } else if (this.#last === undefined || record.genesis !== undefined || record.previousHash !== this.#last.hash) {
      return this.#fail("broken_chain", "does not follow from the record before it", place);
    }

    if (record.handOver !== undefined && !(await this.#keys.handOver(record, record.handOver))) {
      return this.#fail("bad_signature", "hands the ledger over to a key that did not sign for it", place);
    }

    if (record.content === "purged") {
      this.#purged += 1;
      if (withheld?.has(record.seq) !== true) this.#untold.set(record.seq, place);
    }
    for (const [first, last] of record.purges) {
      for (const seq of this.#untold.keys())
        if (seq >= first && seq <= last && seq < record.seq) this.#untold.delete(seq);
    }
    if (record.lost !== undefined) this.#rollbacks.push({ seq: record.seq, ...record.lost });
    this.#records += 1;
    this.#last = { seq: record.seq, hash: record.hash, endOffset: line.offset + line.size };
    if (head?.seq === record.seq) this.#hashAtHead = record.hash;
  }

  #malformed(reason: string, line: FileLine, at: LedgerPosition): void {
    if (this.#last !== undefined) return this.#fail(line.terminated ? "malformed_line" : "torn_last_line", reason, at);
    this.#firstCut ??= {
      status: line.terminated ? "malformed_line" : "torn_last_line",
      message: describe(reason, { ...at, seq: 1 }),
      at: { ...at, seq: 1 },
    };
    this.#note("cut", at);
  }

  #fail(status: Problem["status"], reason: string, at: LedgerPosition): void {
    if (this.#problem !== undefined) return;
    // A chain that does not begin began to be wrong where its first line should be.
    if (this.#last === undefined && at.seq === 1 && status === "broken_chain" && this.#firstCut !== undefined) {
      this.#problem = this.#firstCut;
    } else this.#problem = { status, message: describe(reason, at), at };
  }

  async #headProblem(head: SignedHead): Promise<Problem | undefined> {
    const lastSeq = this.#last?.seq ?? 0;
    const verifier = this.#keys.verifierOf(head.key_id);
    // A head from before the hand-over may be signed by the key of that time; it is still a bound on what must be there.
    if (verifier === undefined || this.#keys.isRetired(head.key_id, head.seq)) {
      const message = `The signed head outside the workspace names an unknown key (${head.key_id.slice(0, 64)}).`;
      return { status: "unknown_key", message, at: this.#end };
    }
    if (!(await isHeadGenuine(head, verifier))) {
      return {
        status: "bad_signature",
        message: "The signed head outside the workspace is not genuine.",
        at: this.#end,
      };
    }
    const { workspace } = this.#expectations;
    if (workspace !== undefined && head.workspace !== workspace) {
      return { status: "bad_signature", message: "The signed head is that of another workspace.", at: this.#end };
    }
    if (lastSeq < head.seq) {
      const message = `The ledger ends at seq ${lastSeq}, but had reached seq ${head.seq}: its tail was cut off at byte ${this.#end.offset}.`;
      return { status: "truncated_tail", message, at: { ...this.#end, seq: lastSeq + 1 } };
    }
    // A ledger that was about to begin.
    if (head.seq === 0) return undefined;
    if (this.#hashAtHead !== head.hash) {
      const message = `Record ${head.seq} is not the one that was signed as the ledger's head: the ledger was replaced.`;
      return { status: "broken_chain", message, at: { ...this.#end, seq: head.seq } };
    }
    return undefined;
  }

  #note(code: LedgerNote, at: LedgerPosition): void {
    if (this.#notes.length < maxNotes) this.#notes.push({ ...at, code });
  }
}

function describe(reason: string, at: LedgerPosition): string {
  return `Record ${at.seq} (line ${at.line}, byte ${at.offset}) ${reason}.`;
}
