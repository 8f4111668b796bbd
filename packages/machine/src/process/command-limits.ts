import { statfsSync } from "node:fs";
import { tmpdir, totalmem } from "node:os";
import type { ProcessEntry, ProcessSession } from "./process-table.ts";
import { processTree, writtenBytesOf } from "./process-table.ts";

/** Limits on the machine's resources for one command, including everything it starts. */
export interface CommandLimits {
  /** Bytes of any one file that it writes. */
  readonly fileBytes: number;
  /** Processes at the same time. */
  readonly processes: number;
  /** Bytes of memory that all of them hold. */
  readonly memoryBytes: number;
  /** Bytes that all of them write to disks, even if deleted since. */
  readonly writtenBytes: number;
  /** Bytes that must stay free on the disk it works on. */
  readonly freeDiskBytes: number;
}

const gibibyte = 1024 ** 3;

export const defaultCommandLimits: CommandLimits = {
  fileBytes: 4 * gibibyte,
  processes: 1000,
  memoryBytes: Math.max(gibibyte, Math.floor(totalmem() * 0.75)),
  writtenBytes: 32 * gibibyte,
  freeDiskBytes: gibibyte / 2,
};

/** Bytes. A command that wrote less is not blamed for a full disk. */
const noticeable = 64 * 1024 * 1024;
const defaultLookEveryMs = 200;

/**
 * Shell words before the `exec` of a command: what the system itself holds. No core files; and when memory runs out, the
 * command goes before anything else of the user. A limit that is lower already stays.
 */
export function systemLimits({ fileBytes }: CommandLimits): string {
  return [
    "ulimit -c 0 2>/dev/null",
    // In blocks of 512 bytes, according to POSIX.
    `ulimit -f ${Math.ceil(fileBytes / 512)} 2>/dev/null`,
    "{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null",
  ].join("; ");
}

/** The limit that a command exceeded, in words. */
export interface ExceededLimit {
  /** What it did, e.g. `it took more than 512 MiB of memory`. */
  readonly what: string;
  /** All its running processes, also those in sessions of their own and without a parent. */
  running(): readonly number[];
}

/**
 * Looks at a running command repeatedly, and calls back once when it exceeds a limit. Looks from outside: a system limit on
 * address space would also end programs that only reserve memory, and a limit on the user would count other programs.
 * @param session the command's own
 */
export function watchLimits(
  session: ProcessSession,
  cwd: string,
  limits: CommandLimits & { readonly lookEveryMs?: number | undefined },
  onExceeded: (limit: ExceededLimit) => void,
): Disposable {
  const disks = [cwd, tmpdir()].map((path) => ({ path, before: freeBytes(path) }));
  const seen = new SeenProcesses(session);
  const look = (): void => {
    const running = seen.look();
    const what = exceeded(running, seen.writtenBytes, limits) ?? filled(disks, seen.writtenBytes, limits);
    if (what === undefined) return;
    clearInterval(timer);
    onExceeded({ what, running: () => seen.look().map(({ id }) => id) });
  };
  const timer = setInterval(look, limits.lookEveryMs ?? defaultLookEveryMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function exceeded(
  running: readonly ProcessEntry[],
  written: number,
  { processes, memoryBytes, writtenBytes }: CommandLimits,
): string | undefined {
  if (running.length > processes) return `it started more than ${processes} processes`;
  const resident = running.reduce((sum, entry) => sum + entry.residentBytes, 0);
  if (resident > memoryBytes) {
    return `it took more than ${inMebibytes(memoryBytes)} of memory (the limit commands.memory_mib)`;
  }
  if (written > writtenBytes) return wroteTooMuch(writtenBytes);
  return undefined;
}

function wroteTooMuch(writtenBytes: number): string {
  return `it wrote more than ${inMebibytes(writtenBytes)} to disks (the limit commands.written_mib)`;
}

/** Processes that begin and end between two looks are not seen to write; then the missing disk space shows it. */
const unseenShare = 8;

function filled(
  disks: readonly { readonly path: string; readonly before: number }[],
  written: number,
  { freeDiskBytes, writtenBytes }: CommandLimits,
): string | undefined {
  for (const { path, before } of disks) {
    const now = freeBytes(path);
    if (now < freeDiskBytes && before - now > noticeable) {
      return `it left less than ${inMebibytes(freeDiskBytes)} free on the disk`;
    }
    // Other programs write there too: it counts only if the command was seen to write a good part itself.
    if (before - now > writtenBytes && written > writtenBytes / unseenShare) return wroteTooMuch(writtenBytes);
  }
  return undefined;
}

function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** For people. */
export function inMebibytes(bytes: number): string {
  return `${Math.round(bytes / (1024 * 1024))} MiB`;
}

/**
 * The processes of one command over repeated looks. A process that was seen once stays known: it may leave the session, lose its
 * parent, or end, and what it wrote still counts.
 */
class SeenProcesses {
  readonly #session: ProcessSession;
  /** By number and start time, because a number is reused later. */
  readonly #written = new Map<string, number>();
  #known: readonly ProcessEntry[] = [];

  constructor(session: ProcessSession) {
    this.#session = session;
  }

  /** The processes that run now. */
  look(): readonly ProcessEntry[] {
    this.#known = processTree(this.#session, this.#known);
    for (const { id, started } of this.#known) {
      const key = `${id} ${started}`;
      this.#written.set(key, Math.max(this.#written.get(key) ?? 0, writtenBytesOf(id)));
    }
    return this.#known;
  }

  /** Bytes written to disks up to the last look, also by processes that have ended. */
  get writtenBytes(): number {
    return this.#written.values().reduce((sum, written) => sum + written, 0);
  }
}
