import { type Limit, placeOf } from "./limits.ts";
import { limitKeys } from "./policy-schema.ts";

/** A key that a policy sets, for people. */
export interface ShownKey {
  /** As it is written there, e.g. `models.allow`. */
  readonly key: string;
  /** Words, or names joined by commas. */
  readonly value: string;
  /** `FILE:LINE`. */
  readonly place: string;
}

/** All that a policy lays down, key by key. */
export function shownKeys(limit: Limit): readonly ShownKey[] {
  const { rules, hooks } = limit;
  const said: Readonly<Record<string, unknown>> = {
    ...limit,
    rules: rules && [...rules.patterns, ...rules.paths, ...rules.tools].map(({ name }) => name),
    hooks: hooks && [...(hooks.only ? ["no others"] : []), ...hooks.commands.map(({ command }) => command)],
  };
  return limitKeys
    .flatMap((key): readonly (readonly [key: string, value: unknown])[] => {
      const value = said[key];
      if (typeof value !== "object" || value === null || Array.isArray(value)) return [[key, value]];
      return Object.entries(value).map(([inner, one]) => [`${key}.${inner}`, one]);
    })
    .flatMap(([key, value]) =>
      value === undefined ? [] : [{ key, value: wordOf(value), place: placeOf(limit, key) }],
    );
}

function wordOf(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(wordOf).join(", ");
  if (typeof value !== "object" || value === null) return String(value);
  return Object.values(value)
    .map((inner) => (Array.isArray(inner) ? inner.join(" ") : String(inner)))
    .join(" ");
}
