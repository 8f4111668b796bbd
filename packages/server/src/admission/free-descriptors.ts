import { readdirSync, readFileSync } from "node:fs";
import { ServiceError } from "@gennai/machine/service-error";

/** Descriptors of this process: its files, connections and pipes. */
interface Descriptors {
  readonly limit: number;
  readonly used: () => number;
}

/** Descriptors that streams leave free, or a quarter of fewer. */
const reserved = 256;

/**
 * Keeps the last descriptors for what runs: a turn needs some for its files and programs, and a call needs a connection. Streams
 * leave a reserve; new turns leave half of it.
 */
export class FreeDescriptors {
  readonly #descriptors: Descriptors;
  readonly #reserve: number;

  constructor(descriptors: Descriptors = ofThisProcess()) {
    this.#descriptors = descriptors;
    this.#reserve = Math.min(reserved, Math.floor(descriptors.limit / 4));
  }

  /** How many connections leave half of the reserve, as things are now. */
  get forConnections(): number {
    const { limit, used } = this.#descriptors;
    return Math.max(1, limit - used() - Math.floor(this.#reserve / 2));
  }

  /** Throws `ServiceError` `resource_exhausted`, reason `no_descriptors`. */
  assertRoomFor(what: "stream" | "turn"): void {
    const left = what === "stream" ? this.#reserve : this.#reserve / 2;
    const { limit, used } = this.#descriptors;
    if (limit === Number.POSITIVE_INFINITY) return;
    const now = used();
    if (now <= limit - left) return;
    const message = `The server has ${now} of ${limit} file descriptors in use, so no new ${what} begins.`;
    throw new ServiceError("resource_exhausted", message, {
      reason: "no_descriptors",
      retryAfterMs: 5_000,
      hint: "Close other clients; the person who runs the server may raise `ulimit -n`.",
    });
  }
}

/** No limit where the system does not tell. */
function ofThisProcess(): Descriptors {
  let limits = "";
  try {
    limits = readFileSync("/proc/self/limits", "utf8");
  } catch {
    // Not Linux.
  }
  // The soft limit, which node has raised as far as it may: https://man7.org/linux/man-pages/man5/proc_pid_limits.5.html
  const soft = /^Max open files +(\d+)/m.exec(limits)?.[1];
  return { limit: soft === undefined ? Number.POSITIVE_INFINITY : Number(soft), used };
}

function used(): number {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    // It takes a descriptor to look.
    return Number.POSITIVE_INFINITY;
  }
}
