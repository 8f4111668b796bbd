import { canonicalJson } from "@gennai/protocol/canonical-json";
import { digestOf } from "@gennai/protocol/digest";
import { errorMessage } from "@gennai/protocol/error-message";
import type { EmergencyState } from "@gennai/protocol/model/governance/emergency";
import { type Capability, capabilities, type PolicyKeys } from "./policy-schema.ts";

/** What one holder of limits lays down: a file of root, a signed document of the user, or the emergency controls. It only tightens. */
export interface Limit extends PolicyKeys {
  /** Named in refusals, e.g. `acme-default`. */
  readonly name: string;
  /** Named in refusals of a file of root. */
  readonly contact?: string | undefined;
  /** `root`: nobody without root can lift it. */
  readonly holder: "root" | "user" | "switches";
  /** Absolute path; empty for the emergency controls. */
  readonly file: string;
  /** 1-based line of each key by its path, e.g. `models.allow`. */
  readonly lines: Readonly<Record<string, number>>;
  /** Milliseconds since the epoch; before `issued` and from `expires` on, only reading is permitted. */
  readonly issued?: number | undefined;
  readonly expires?: number | undefined;
  readonly serial?: number | undefined;
  /** Live state of the emergency controls. */
  readonly switches?: EmergencyState & { readonly problem?: string };
  /** Why it cannot be used. Then only reading is permitted, whatever else it says. */
  readonly problem?: string | undefined;
  /** Names the problem, where it is not the policy itself. */
  readonly problemCode?: "export_behind" | undefined;
}

/** Limits that all hold together, without an order: as a set, each once. None permits everything. */
export type Limits = readonly Limit[];

export const noLimits: Limits = [];

/** What holds if both hold: commutative, associative, idempotent, and never looser than either. */
export function meet(a: Limits, b: Limits): Limits {
  const byText = new Map([...a, ...b].map((limit) => [textOf(limit), limit]));
  return [...byText].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, limit]) => limit);
}

const texts = new WeakMap<Limit, string>();

/** Limits are values: the same text is the same limit. */
function textOf(limit: Limit): string {
  const known = texts.get(limit);
  if (known !== undefined) return known;
  // JSON knows no `undefined`.
  const text = canonicalJson(JSON.parse(JSON.stringify(limit)));
  texts.set(limit, text);
  return text;
}

/** The one limit that is left where a source cannot be used: only reading. */
export function leastPrivilege(problem: string, of: Pick<Limit, "name" | "holder" | "file">): Limit {
  return { ...of, lines: {}, capabilities: ["read"], problem };
}

/** What the emergency controls lay down now. */
export function switchesLimit(state: EmergencyState & { readonly problem?: string }): Limit {
  return { name: "emergency", holder: "switches", file: "", lines: {}, switches: state };
}

/**
 * The limits at a given time: outside its validity, a source permits only reading. A clock before the date of issue was set back
 * or is not set, so it cannot tell whether the source has expired.
 * @param now milliseconds since the epoch
 */
export function limitsAt(limits: Limits, now: number): Limits {
  return limits.map((limit) => {
    const problem = timeProblem(limit, now);
    return problem === undefined || limit.problem !== undefined ? limit : onlyReading(limit, problem);
  });
}

/** The same, and nothing but reading, because of a problem. */
export function onlyReading(limit: Limit, problem: string, problemCode?: Limit["problemCode"]): Limit {
  return { ...limit, capabilities: ["read"], problem, problemCode };
}

/**
 * The same limits, but only reading where records do not arrive where they must.
 * @param oldestOf milliseconds since the epoch, of the oldest record that a destination lacks; undefined: it lacks none. May throw
 */
export function limitsWhileSent(limits: Limits, oldestOf: (name: string) => number | undefined, now: number): Limits {
  return limits.map((limit) => {
    for (const { name, required, most_behind_hours: hours = 24 } of limit.problem === undefined
      ? (limit.export ?? [])
      : []) {
      let oldest: number | undefined;
      try {
        oldest = required === true ? oldestOf(name) : undefined;
      } catch (error) {
        return onlyReading(limit, `what the export ${name} lacks is unknown: ${errorMessage(error)}`, "export_behind");
      }
      if (oldest === undefined || now - oldest <= hours * 3_600_000) continue;
      const since = new Date(oldest).toISOString().slice(0, 16);
      return onlyReading(limit, `the export ${name} lacks records since ${since}Z; let it arrive`, "export_behind");
    }
    return limit;
  });
}

function timeProblem({ issued, expires, name }: Limit, now: number): string | undefined {
  if (issued !== undefined && now < issued - clockSkewMs) {
    return `this machine's clock is earlier than the issue of ${name}; set the clock`;
  }
  if (expires === undefined || now < expires) return undefined;
  return `${name} expired on ${new Date(expires).toISOString().slice(0, 10)}; renew it`;
}

/** Normal difference between the clocks of two machines. */
const clockSkewMs = 5 * 60_000;

/** What all limits together permit. */
export function permitted(limits: Limits): readonly Capability[] {
  return capabilities.filter((one) => limits.every((limit) => limit.capabilities?.includes(one) !== false));
}

/** The same for what a person does themselves: what the agent may do at all is not for them. */
export function forPeople(limits: Limits): Limits {
  return limits.map(({ capabilities: _agents, ...limit }) => limit);
}

/** Why only reading is permitted; undefined if each can be used. */
export function problemOf(limits: Limits): string | undefined {
  return limits.find(({ problem }) => problem !== undefined)?.problem;
}

/** SHA-256 of what they say, wherever their files are. */
export function limitsDigest(limits: Limits): string {
  const said = limits.map(({ file: _file, lines: _lines, problem, ...limit }) =>
    textOf({ ...limit, file: "", lines: {}, ...(problem === undefined ? {} : { problem: "broken" }) }),
  );
  return digestOf(said.sort());
}

/** `FILE:LINE` of a key, for people. */
export function placeOf({ file, lines }: Pick<Limit, "file" | "lines">, key: string): string {
  const line = lines[key];
  return line === undefined ? file : `${file}:${line}`;
}
