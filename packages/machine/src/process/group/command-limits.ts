import { statfsSync } from "node:fs";
import { tmpdir, totalmem } from "node:os";
import type { ProcessEntry, ProcessSession } from "./process-table.ts";
import { SeenProcesses } from "./seen-processes.ts";

/** What one command may take of the machine, everything it starts included. */
export interface CommandLimits {
  /** Size of any one file it writes. Bytes. */
  readonly fileBytes: number;
  /** Processes at once. */
  readonly processes: number;
  /** Memory that all of them hold. Bytes. */
  readonly memoryBytes: number;
  /** What all of them write to disks, deleted since or not. Bytes. */
  readonly writtenBytes: number;
  /** Bytes that stay free on the disk it works on. */
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

/** Less than this is not taken for what fills a disk. Bytes. */
const noticeable = 64 * 1024 * 1024;
const defaultLookEveryMs = 200;

/**
 * Shell words before the `exec` of a command: what the system itself holds. No core files; and when memory runs out, the
 * command goes before anything else of the user. A limit that is lower already stays.
 */
export function systemLimits({ fileBytes }: CommandLimits): string {
  return [
    "ulimit -c 0 2>/dev/null",
    // In blocks of 512 bytes, says POSIX.
    `ulimit -f ${Math.ceil(fileBytes / 512)} 2>/dev/null`,
    "{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null",
  ].join("; ");
}

/** The limit that a command went over, in words. */
export interface ExceededLimit {
  /** What it did, e.g. `it took more than 512 MiB of memory`. */
  readonly what: string;
  /** Every process of it that runs now, in sessions of its own and without a parent, too. */
  running(): readonly number[];
}

/**
 * Looks at a running command again and again, and calls back once when it takes more than it may. It is looked at from
 * outside: a limit of address space would end what only reserves memory, one of the user's what others run.
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

/** Processes that begin and end between two looks are not seen to write; what is missing on the disk then tells. */
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
    // Others write there as well: it counts only for one that was seen to write a good deal itself.
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
