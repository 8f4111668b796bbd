import { setTimeout as sleep } from "node:timers/promises";
import { systemErrorCode } from "../system-error.ts";
import { anySince, hasOpen, type ProcessEntry, type ProcessSession, processesSince } from "./process-table.ts";

/** How long processes that were asked to end may take before they are killed, in milliseconds. */
export const defaultGraceMs = 1000;
/** Milliseconds. Killed processes vanish at once, unless the kernel holds them in a call that cannot be interrupted. */
const vanishMs = 5000;

/**
 * A process that leads its own session, and everything it started: its group, and groups that job control made in its session. A
 * program that creates a new session leaves the group; only a sandbox holds it.
 */
export class ProcessGroup {
  readonly leader: number;
  readonly #since: number;

  constructor({ leader, since }: ProcessSession) {
    this.leader = leader;
    this.#since = since;
  }

  /** Processes still running; only the leader's id if they cannot be listed. */
  running(): readonly number[] {
    const processes = processesSince(this.#since, this.leader);
    if (processes === undefined) return this.#groupExists() ? [this.leader] : [];
    return processes.filter((entry) => this.#hasLiving(entry)).map((entry) => entry.id);
  }

  /** Sends a signal to all of them. */
  signal(name: "SIGTERM" | "SIGKILL"): void {
    send(-this.leader, name);
    for (const id of this.running()) if (id !== this.leader) send(id, name);
  }

  /** Ends all of them, with SIGTERM first. Resolves when they are gone; returns those that could not be ended. */
  async end(graceMs: number = defaultGraceMs): Promise<readonly number[]> {
    // Mostly no process is left.
    if (anySince(this.#since, this.leader, (entry) => this.#hasLiving(entry)) === false) return [];
    return endProcesses(
      () => this.running(),
      (name) => this.signal(name),
      graceMs,
    );
  }

  #hasLiving({ ended, group, session }: ProcessEntry): boolean {
    return !ended && (group === this.leader || session === this.leader);
  }

  #groupExists(): boolean {
    try {
      process.kill(-this.leader, 0);
      return true;
    } catch (error) {
      return systemErrorCode(error) === "EPERM";
    }
  }
}

/**
 * Ends processes that left the session but still have one of its pipes open.
 * @param pipe as named by `openedBy`
 */
export async function endHolders(
  pipe: string,
  since: number,
  graceMs: number = defaultGraceMs,
): Promise<readonly number[]> {
  const holders = () =>
    (processesSince(since) ?? [])
      .filter((entry) => !entry.ended && entry.id !== process.pid && hasOpen(entry.id, pipe))
      .map((entry) => entry.id);
  return endProcesses(
    holders,
    (name) => {
      for (const id of holders()) send(id, name);
    },
    graceMs,
  );
}

/** Kills processes, whatever session they are in. @param running returns those that still run */
export function endAll(running: () => readonly number[]): Promise<readonly number[]> {
  const kill = (): void => {
    for (const id of running()) send(id, "SIGKILL");
  };
  return endProcesses(running, kill, 0);
}

async function endProcesses(
  running: () => readonly number[],
  signal: (name: "SIGTERM" | "SIGKILL") => void,
  graceMs: number,
): Promise<readonly number[]> {
  if (running().length === 0) return [];
  signal("SIGTERM");
  if (await gone(running, graceMs)) return [];
  const giveUp = performance.now() + vanishMs;
  // Repeated, because a process that was just being started misses the signal.
  do signal("SIGKILL");
  while (!(await gone(running, 50)) && performance.now() < giveUp);
  return running();
}

async function gone(running: () => readonly number[], withinMs: number): Promise<boolean> {
  const end = performance.now() + withinMs;
  for (let pause = 1; ; pause = Math.min(pause * 2, 25)) {
    if (running().length === 0) return true;
    const left = end - performance.now();
    if (left <= 0) return false;
    await sleep(Math.min(pause, left));
  }
}

function send(id: number, name: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(id, name);
  } catch (error) {
    // ESRCH: the process is gone. EPERM: it runs as another user, which `running` then shows.
    const code = systemErrorCode(error);
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}
