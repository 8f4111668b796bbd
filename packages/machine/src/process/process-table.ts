import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";

/** A process as the system knows it. */
export interface ProcessEntry {
  readonly id: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** True if it has ended and is not yet collected by its parent. */
  readonly ended: boolean;
  /** True if it goes on only when it is told to, as after Ctrl-Z. */
  readonly stopped: boolean;
  /** Start time, in ticks of the machine's clock. */
  readonly started: number;
  /** Bytes of memory that it holds and that are not also on disk. */
  readonly residentBytes: number;
}

/** The usual page size. Where it differs, memory is counted wrong by that factor. */
const pageBytes = 4096;

/**
 * Processes that began after `first`, including it and `also`; undefined if the system has no `/proc`. Numbers rise, so that most
 * of the table is skipped; once they have started again from the bottom, all of it is read.
 */
export function processesSince(first: number, also = first): readonly ProcessEntry[] | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const from = newestProcess() >= first ? first : 0;
    const entries: ProcessEntry[] = [];
    for (const name of readdirSync("/proc")) {
      const id = Number(name);
      if (!Number.isInteger(id) || (id < from && id !== also)) continue;
      const entry = processEntry(id);
      if (entry !== undefined) entries.push(entry);
    }
    return entries;
  } catch {
    return undefined;
  }
}

/** From this count on, trying each number costs more than reading all processes. */
const fewNumbers = 40;

/**
 * Whether `is` holds for a process that began after `first`, including it and `also`; undefined if many began since, or the
 * system has no `/proc`.
 */
export function anySince(first: number, also: number, is: (entry: ProcessEntry) => boolean): boolean | undefined {
  const count = newestProcess() - first;
  if (count < 0 || count > fewNumbers) return undefined;
  // Threads have numbers as well; looking one up gives its process.
  const numbers = [also, ...Array.from({ length: count + 1 }, (_, index) => first + index)];
  return numbers.some((id) => {
    const entry = existsSync(`/proc/${id}`) ? processEntry(id) : undefined;
    return entry !== undefined && is(entry);
  });
}

/** Number of the process that began last; 0 if unknown. */
export function newestProcess(): number {
  try {
    return Number(readFileSync("/proc/loadavg", "latin1").trim().split(" ").at(-1));
  } catch {
    return 0;
  }
}

/** A session of processes. */
export interface ProcessSession {
  /** Number of the process that leads it. */
  readonly leader: number;
  /** Lower bound of the other processes' numbers: the newest process's number before the leader started any. */
  readonly since: number;
}

/**
 * The living processes of a session and all that they started, also in other namespaces and sessions; empty if the system has no
 * `/proc`.
 * @param known members seen before, which may have left it
 */
export function processTree(
  { leader, since }: ProcessSession,
  known: readonly ProcessEntry[] = [],
): readonly ProcessEntry[] {
  const entries = (processesSince(since, leader) ?? []).filter(({ ended }) => !ended);
  const begun = new Map(known.map(({ id, started }) => [id, started]));
  const members = new Set<number>();
  for (const { id, group, session, started } of entries) {
    if (id === leader || group === leader || session === leader || begun.get(id) === started) members.add(id);
  }
  const children = Map.groupBy(entries, ({ parent }) => parent);
  const found = [...members];
  for (let next = found.pop(); next !== undefined; next = found.pop()) {
    for (const { id } of children.get(next) ?? []) {
      if (members.has(id)) continue;
      members.add(id);
      found.push(id);
    }
  }
  return entries.filter(({ id }) => members.has(id));
}

/** Bytes that a process has written to disks; 0 if unknown. */
export function writtenBytesOf(id: number): number {
  try {
    return Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${id}/io`, "latin1"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** What a descriptor of a process is open on, e.g. `socket:[4711]`; undefined if unknown. */
export function openedBy(id: number, descriptor: number): string | undefined {
  try {
    return readlinkSync(`/proc/${id}/fd/${descriptor}`);
  } catch {
    return undefined;
  }
}

/** Whether a process has a file open, named as by `openedBy`. */
export function hasOpen(id: number, target: string): boolean {
  try {
    return readdirSync(`/proc/${id}/fd`).some((descriptor) => openedBy(id, Number(descriptor)) === target);
  } catch {
    // The process has ended, or belongs to another user.
    return false;
  }
}

/** Undefined if there is none, or the system has no `/proc`. */
export function processEntry(id: number): ProcessEntry | undefined {
  try {
    // `id (name) state parent group session …`; the name may hold blanks and brackets.
    const stat = readFileSync(`/proc/${id}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state = "", parent = "", group = "", session = ""] = fields;
    return {
      id,
      parent: Number(parent),
      group: Number(group),
      session: Number(session),
      ended: state === "Z" || state === "X",
      stopped: state === "T" || state === "t",
      started: Number(fields[19] ?? 0),
      residentBytes: Number(fields[21] ?? 0) * pageBytes,
    };
  } catch {
    return undefined;
  }
}
