import { ServiceError } from "@gennai/machine/service-error";
import type { Identity } from "@gennai/sessions/session/identity";
import { Allowance } from "./allowance.ts";
import { FreeDescriptors } from "./free-descriptors.ts";
import type { AdmissionLimits } from "./limits.ts";

/** How many have a seat, by name. Names without any are forgotten. */
class ConcurrencyLimit {
  readonly #taken = new Map<string, number>();

  of(name: string): number {
    return this.#taken.get(name) ?? 0;
  }

  /** Disposing gives the seat back, once. */
  take(name: string): Disposable {
    this.#taken.set(name, this.of(name) + 1);
    let held = true;
    return {
      [Symbol.dispose]: () => {
        if (!held) return;
        held = false;
        const left = this.of(name) - 1;
        if (left === 0) this.#taken.delete(name);
        else this.#taken.set(name, left);
      },
    };
  }
}

/** Maximum number of callers whose allowances are tracked; a forgotten one starts full. */
const maxAllowances = 10_000;
const everybody = "";

type Caller = Pick<Identity, "tenant" | "user">;

interface Bound {
  readonly name: string;
  readonly limit: number;
  /** Whose limit it is, for the message. */
  readonly whose: string;
}

/**
 * Decides who may start what at this moment. Nothing is queued: what exceeds a limit is refused at once, with the time to wait.
 */
export class Admission {
  readonly limits: AdmissionLimits;
  readonly #now: () => number;
  readonly #allowances = new Map<string, Allowance>();
  readonly #calls = new ConcurrencyLimit();
  readonly #streams = new ConcurrencyLimit();
  readonly #turns = new ConcurrencyLimit();
  readonly #descriptors: FreeDescriptors;

  /** @param options.now monotonic; milliseconds */
  constructor(
    limits: AdmissionLimits,
    options: { readonly now?: () => number; readonly descriptors?: FreeDescriptors } = {},
  ) {
    this.limits = limits;
    this.#descriptors = options.descriptors ?? new FreeDescriptors();
    this.#now = options.now ?? (() => performance.now());
  }

  /** Dispose when it has ended. Throws `ServiceError` `resource_exhausted` with `retryAfterMs`. */
  call(caller: Caller): Disposable {
    this.#spend(caller);
    const { callsPerUser, calls } = this.limits;
    return take(this.#calls, [...ofUser(caller, callsPerUser), ofAll(calls)], "calls under way", 500);
  }

  /** The same for a stream. @param options.runsTurn one that runs a turn needs the room of a turn only */
  stream(caller: Caller, { runsTurn }: { readonly runsTurn: boolean }): Disposable {
    this.#spend(caller);
    if (!runsTurn) this.#descriptors.assertRoomFor("stream");
    const { streamsPerUser, streams } = this.limits;
    return take(this.#streams, [...ofUser(caller, streamsPerUser), ofAll(streams)], "open streams", 2_000);
  }

  /** The same for a turn. */
  turn(caller: Caller): Disposable {
    this.#descriptors.assertRoomFor("turn");
    const { turnsPerUser, turnsPerTenant, turns } = this.limits;
    const ofTenant = {
      name: JSON.stringify([caller.tenant]),
      limit: turnsPerTenant,
      whose: "Your tenant has",
    };
    const bounds = [...ofUser(caller, turnsPerUser), ...(caller.tenant === "" ? [] : [ofTenant]), ofAll(turns)];
    return take(this.#turns, bounds, "running turns", 5_000);
  }

  #spend(caller: Caller): void {
    if (caller.user === "") return;
    const name = nameOf(caller);
    const { callsPerSecond } = this.limits;
    const allowance = this.#allowances.get(name) ?? new Allowance(callsPerSecond, this.#now, 2 * callsPerSecond);
    this.#allowances.delete(name);
    this.#allowances.set(name, allowance);
    const [oldest] = this.#allowances.keys();
    if (this.#allowances.size > maxAllowances && oldest !== undefined) this.#allowances.delete(oldest);
    if (allowance.take()) return;
    throw overloaded(`You may make ${callsPerSecond} calls a second.`, "too_many_requests", 1_000);
  }
}

function take(seats: ConcurrencyLimit, bounds: readonly Bound[], what: string, retryAfterMs: number): Disposable {
  const full = bounds.find(({ name, limit }) => seats.of(name) >= limit);
  if (full !== undefined) {
    const message = `${full.whose} the limit of ${full.limit} ${what}.`;
    throw overloaded(message, full.name === everybody ? "server_overloaded" : "too_many", retryAfterMs);
  }
  const taken = bounds.map(({ name }) => seats.take(name));
  return {
    [Symbol.dispose]: () => {
      for (const seat of taken) seat[Symbol.dispose]();
    },
  };
}

function ofUser(caller: Caller, limit: number): readonly Bound[] {
  return caller.user === "" ? [] : [{ name: nameOf(caller), limit, whose: "You have" }];
}

function ofAll(limit: number): Bound {
  return { name: everybody, limit, whose: "This server has" };
}

function nameOf({ tenant, user }: Caller): string {
  return JSON.stringify([tenant, user]);
}

function overloaded(message: string, reason: string, retryAfterMs: number): ServiceError {
  return new ServiceError("resource_exhausted", message, { reason, retryAfterMs, hint: "Try again in a moment." });
}
