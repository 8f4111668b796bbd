import { setTimeout as delay } from "node:timers/promises";
import { errorMessage } from "@gennai/protocol/error-message";
import { freeStorage } from "@gennai/store/purge/free-storage";
import type { OldPurge } from "@gennai/store/purge/purge-old";
import { bytesOf, lastStorageUse } from "@gennai/store/purge/storage-use";

/** Milliseconds after the start, and between two looks at when storage was freed last. */
const firstMs = 10_000;
const lookEveryMs = 60 * 60_000;
/** Milliseconds after which storage is measured and freed again, by any server of the directory. */
const everyMs = 24 * 60 * 60_000;

/** Keeps a state directory within its bound, once a day, beside other work. */
export class StorageKeeper implements AsyncDisposable {
  readonly #ended = new AbortController();
  readonly #work: Promise<void>;

  constructor(
    stateDir: string,
    options: {
      readonly mostBytes: number;
      readonly log: { info(text: string): void; warn(text: string): void };
      /** Purges what a policy wants gone; undefined: none wants it. */
      readonly purge?: (now: number, signal: AbortSignal) => Promise<OldPurge | undefined>;
      readonly wait?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
    },
  ) {
    const { wait = unrefedDelay } = options;
    this.#work = this.#keep(stateDir, options, wait).catch(() => undefined);
  }

  async #keep(
    stateDir: string,
    { mostBytes, log, purge }: ConstructorParameters<typeof StorageKeeper>[1],
    wait: (milliseconds: number, signal: AbortSignal) => Promise<unknown>,
  ): Promise<void> {
    const { signal } = this.#ended;
    for (let pause = firstMs; ; pause = lookEveryMs) {
      await wait(pause, signal);
      const now = Date.now();
      // A clock that was ahead does not keep it from ever looking again.
      if (Math.abs(now - (lastStorageUse(stateDir)?.at ?? 0)) < everyMs) continue;
      try {
        const { purged, refusals } = (await purge?.(now, signal)) ?? { purged: 0, refusals: [] };
        if (purged > 0) log.info(`Purged old sessions, as a policy wants: ${purged}.`);
        if (refusals.length > 0) {
          log.warn(`Purges that a policy wants were refused: ${refusals.length}. The first: ${refusals[0]}`);
        }
      } catch (error) {
        if (!signal.aborted) log.warn(`Old sessions could not be purged: ${errorMessage(error)}`);
      }
      try {
        const freed = await freeStorage(stateDir, { mostBytes, now, signal });
        const bytes = freed === undefined ? 0 : bytesOf(freed.before) - bytesOf(freed.after);
        if (bytes > 0) log.info(`Removed ${Math.ceil(bytes / 1024 ** 2)} MiB of old builds and snapshots.`);
      } catch (error) {
        if (!signal.aborted) log.warn(`Storage could not be freed: ${errorMessage(error)}`);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await this.#work;
  }
}

function unrefedDelay(milliseconds: number, signal: AbortSignal): Promise<unknown> {
  return delay(milliseconds, undefined, { signal, ref: false });
}
