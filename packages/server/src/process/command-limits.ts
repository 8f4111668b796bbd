import { statfsSync } from "node:fs";
import { tmpdir, totalmem } from "node:os";
import { type ProcessSession, processTree } from "./process-table.ts";

/** What one command may take of the machine, everything it starts included. */
export interface CommandLimits {
  /** Size of any one file it writes. Bytes. */
  readonly fileBytes: number;
  /** Processes at once. */
  readonly processes: number;
  /** Memory that all of them hold. Bytes. */
  readonly memoryBytes: number;
  /** Bytes that stay free on the disk it works on. */
  readonly freeDiskBytes: number;
}

const gibibyte = 1024 ** 3;

export const defaultCommandLimits: CommandLimits = {
  fileBytes: 4 * gibibyte,
  processes: 1000,
  memoryBytes: Math.max(gibibyte, Math.floor(totalmem() * 0.75)),
  freeDiskBytes: gibibyte / 2,
};

/** Less than this is not taken for what fills a disk. Bytes. */
const noticeable = 64 * 1024 * 1024;
const lookEveryMs = 200;

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

/**
 * Looks at a running command again and again, and calls back once when it takes more than it may, with what it took.
 * @param session the command's own
 */
export function watchLimits(
  session: ProcessSession,
  cwd: string,
  limits: CommandLimits,
  onExceeded: (what: string) => void,
): Disposable {
  const disks = [cwd, tmpdir()].map((path) => ({ path, before: freeBytes(path) }));
  const look = (): void => {
    const what = exceeded(session, limits) ?? filled(disks, limits);
    if (what === undefined) return;
    clearInterval(timer);
    onExceeded(what);
  };
  const timer = setInterval(look, lookEveryMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function exceeded(session: ProcessSession, { processes, memoryBytes }: CommandLimits): string | undefined {
  const tree = processTree(session);
  if (tree.length > processes) return `it started more than ${processes} processes`;
  const resident = tree.reduce((sum, entry) => sum + entry.residentBytes, 0);
  if (resident > memoryBytes) return `it took more than ${inMebibytes(memoryBytes)} of memory`;
  return undefined;
}

function filled(
  disks: readonly { readonly path: string; readonly before: number }[],
  { freeDiskBytes }: CommandLimits,
): string | undefined {
  const full = disks.some(({ path, before }) => {
    const now = freeBytes(path);
    return now < freeDiskBytes && before - now > noticeable;
  });
  return full ? `it left less than ${inMebibytes(freeDiskBytes)} free on the disk` : undefined;
}

function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function inMebibytes(bytes: number): string {
  return `${Math.round(bytes / (1024 * 1024))} MiB`;
}
