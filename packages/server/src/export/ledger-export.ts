import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { exportedRecord, gennaiLine, inputAttribute, ocsfLine } from "@gennai/governance/ledger/exported-record";
import type { ExportDestination } from "@gennai/governance/limits/export-schema";
import { ProcessLocks } from "@gennai/machine/process/locks/process-lock";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import type { ServerLog } from "@gennai/machine/server-log";
import { canonicalJson } from "@gennai/protocol/canonical-json";
import { ExportCursor } from "@gennai/store/ledger/export-cursor";
import type { Delivery, ExportItem, Sender } from "./delivery.ts";
import { senderTo } from "./senders.ts";

/** Milliseconds between two looks for new records, between two tries, before a stopped one is tried again, for an answer, and between looks for other destinations. */
const waits = { look: 1_000, first: 1_000, longest: 300_000, answer: 30_000, settings: 10_000 } as const;

/** Milliseconds that an end waits for receivers: it must not wait for one that hangs. */
const graceMs = 2_000;

export interface LedgerExportOptions {
  readonly stateDir: string;
  readonly version: string;
  readonly log: ServerLog;
  /** For tests. */
  readonly waits?: Partial<Readonly<Record<keyof typeof waits, number>>>;
}

/**
 * Sends the records of a state directory's ledgers to their destinations, each once it is confirmed, one batch at a time for each
 * destination, by one process of this machine. After a kill, the records of a batch may be sent twice: their ids are the same.
 */
export class LedgerExport implements AsyncDisposable {
  readonly #ending = new AbortController();
  readonly #stop = new AbortController();
  readonly #running = new Map<string, { readonly left: AbortController; readonly ended: Promise<void> }>();
  readonly #looking: Promise<void>;

  /** @param destinations asked again and again: a policy may name others meanwhile. Rejections are logged. */
  constructor(destinations: () => Promise<readonly ExportDestination[]>, options: LedgerExportOptions) {
    this.#looking = this.#look(destinations, options);
  }

  async #look(destinations: () => Promise<readonly ExportDestination[]>, options: LedgerExportOptions): Promise<void> {
    const { settings } = { ...waits, ...options.waits };
    do {
      try {
        const wanted = new Map((await destinations()).map((each) => [canonicalJson(each), each]));
        for (const [text, { left }] of this.#running) if (!wanted.has(text)) left.abort();
        for (const [text, destination] of wanted) if (!this.#running.has(text)) this.#start(text, destination, options);
      } catch (error) {
        options.log.error("Where records are sent could not be read.", error);
      }
      await pause(settings, this.#ending.signal);
    } while (!this.#ending.signal.aborted);
  }

  #start(text: string, destination: ExportDestination, options: LedgerExportOptions): void {
    const left = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, left.signal]);
    const ending = AbortSignal.any([this.#ending.signal, left.signal]);
    const ended = run(destination, options, { ending, signal })
      .catch((error: unknown) => {
        if (!signal.aborted) options.log.error(`The export ${destination.name} ended.`, error);
      })
      .finally(() => {
        if (left.signal.aborted) this.#running.delete(text);
      });
    this.#running.set(text, { left, ended });
  }

  /** What was recorded last still goes out, if its receiver takes it at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    const grace = setTimeout(() => this.#stop.abort(), graceMs);
    await this.#looking;
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
    clearTimeout(grace);
  }
}

async function run(
  destination: ExportDestination,
  options: LedgerExportOptions,
  { ending, signal }: { readonly ending: AbortSignal; readonly signal: AbortSignal },
): Promise<void> {
  const { stateDir, version, log } = options;
  const { name } = destination;
  const { look, first, longest, answer } = { ...waits, ...options.waits };
  const locks = new ProcessLocks(join(stateDir, "locks"));
  let lock = locks.tryAcquire(`export-${name}`, "exports the ledger");
  while (lock.type === "held") {
    if (ending.aborted) return;
    await pause(look, ending);
    lock = locks.tryAcquire(`export-${name}`, "exports the ledger");
  }
  using _lock = lock.lock;
  using cursor = await ExportCursor.open(stateDir);
  const sender = await senderTo(destination, version);
  let wait = first;
  for (;;) {
    signal.throwIfAborted();
    const batch = cursor.next(name);
    if (batch === undefined) {
      if (ending.aborted) return;
      await pause(look, ending);
      continue;
    }
    await cursor.onDisk();
    const delivery = await sent(batch, { destination, sender, version, signal, answerMs: answer });
    if (delivery.type === "taken") {
      if (delivery.rejected !== undefined) {
        const [from, to] = [batch.records[0]?.seq, batch.records.at(-1)?.seq];
        log.warn(`The export ${name} has a gap. Of records ${from} to ${to} of ${batch.origin}, ${delivery.rejected}.`);
        cursor.gap(name, batch, delivery.rejected);
      }
      cursor.confirm(name, batch);
      wait = first;
      continue;
    }
    const what = delivery.type === "refused" ? "refuses records" : "cannot be reached";
    const text = `The export ${name} ${what}: ${delivery.why}`;
    if (wait === first) log.warn(`${text}. They are kept, and sent again.`);
    cursor.trouble(name, text, Date.now());
    if (ending.aborted) return;
    const said = delivery.type === "later" ? (delivery.afterMs ?? 0) : longest;
    // Many machines do not come back at the same moment; and no receiver has them come at once, again and again.
    await pause(Math.min(Math.max(said, wait * (0.5 + Math.random() / 2)), longest), ending);
    wait = Math.min(wait * 2, longest);
  }
}

/** Resolves after a time, or when it ends. */
async function pause(ms: number, ending: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal: ending, ref: false }).catch(() => undefined);
}

/** What became of records, also where the receiver does not answer in time. Rejects by the signal's abort. */
export async function sent(
  { origin, records }: Parameters<typeof exportItems>[0],
  to: {
    readonly destination: ExportDestination;
    readonly sender: Sender;
    readonly version: string;
    readonly signal: AbortSignal;
    readonly answerMs?: number | undefined;
  },
): Promise<Delivery> {
  const { destination, sender, version, signal, answerMs = waits.answer } = to;
  const items = await exportItems({ origin, records }, destination, version);
  const late = AbortSignal.timeout(answerMs);
  try {
    return await sender.send(items, AbortSignal.any([signal, late]));
  } catch (error) {
    if (signal.aborted || !late.aborted) throw error;
    return { type: "later", why: `it did not answer within ${answerMs / 1000} s` };
  }
}

/** Records of one ledger as a destination gets them. */
async function exportItems(
  { origin, records }: { readonly origin: string; readonly records: readonly { readonly line: string }[] },
  { content = "none", format }: Pick<ExportDestination, "content" | "format">,
  version: string,
): Promise<readonly ExportItem[]> {
  const redactor = content === "redacted" ? await createRedactor() : undefined;
  return Promise.all(
    records.map(async ({ line }): Promise<ExportItem> => {
      const told = exportedRecord(line, { origin, paths: content !== "none", input: redactor !== undefined });
      const input = told.attributes[inputAttribute];
      const masked =
        redactor && Array.isArray(input) && (await Promise.all(input.map((text: string) => redactor.redact(text))));
      const record = masked ? { ...told, attributes: { ...told.attributes, [inputAttribute]: masked } } : told;
      return { record, line: format === "ocsf" ? ocsfLine(record, { version, host: hostname() }) : gennaiLine(record) };
    }),
  );
}
