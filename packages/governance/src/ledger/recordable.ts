import { sha256Hex } from "@gennai/protocol/digest";

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** Characters of one text, and of all texts and keys of one record, that are kept word for word. */
const maxText = 8_192;
const keptOfLongText = 1_024;
const maxTotal = 131_072;
const maxMembers = 1_000;
const maxDepth = 32;

/**
 * The part of a value that fits into a record. Writing a record must never fail because of its content, so nothing throws here:
 * long text is shortened and its digest added, values that JSON cannot express become text, members without a value are left
 * out. Members are in canonical order.
 */
export function recordable(value: unknown): JsonValue {
  return copy(value, { left: maxTotal }, 0) ?? null;
}

function copy(value: unknown, budget: { left: number }, depth: number): JsonValue | undefined {
  switch (typeof value) {
    case "string":
      return text(value, budget);
    case "number":
      if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) return String(value);
      return value;
    case "boolean":
      return value;
    case "bigint":
      return text(value.toString(), budget);
    case "object":
      break;
    default:
      return undefined;
  }
  if (value === null) return null;
  if (depth >= maxDepth) return "[cut: nested too deep]";
  if (Array.isArray(value)) {
    const items: JsonValue[] = [];
    for (const item of value) {
      if (items.length === maxMembers || budget.left <= 0) {
        items.push(`[cut: ${value.length - items.length} more]`);
        break;
      }
      items.push(copy(item, budget, depth + 1) ?? null);
    }
    return items;
  }
  const members: [string, JsonValue][] = [];
  const entries = Object.entries(value);
  for (const [key, member] of entries) {
    if (members.length === maxMembers || budget.left <= 0) {
      members.push(["[cut]", `${entries.length - members.length} more`]);
      break;
    }
    const copied = copy(member, budget, depth + 1);
    // Entries, not assignments: a member called `__proto__` stays a member.
    if (copied !== undefined) members.push([text(key, budget), copied]);
  }
  return Object.fromEntries(members.sort(byName));
}

function byName([one]: readonly [string, JsonValue], [other]: readonly [string, JsonValue]): number {
  return Number(one > other) - Number(one < other);
}

function text(value: string, budget: { left: number }): string {
  const wellFormed = value.toWellFormed();
  if (wellFormed.length <= maxText && wellFormed.length <= budget.left) {
    budget.left -= wellFormed.length;
    return wellFormed;
  }
  const kept = wellFormed.slice(0, Math.min(keptOfLongText, Math.max(budget.left, 64))).toWellFormed();
  budget.left -= kept.length;
  return `${kept}… [cut: ${value.length} characters, sha256:${sha256Hex(wellFormed)}]`;
}
