/** Fields of an intent, as the canonical form writes them. */
export type IntentField = "id" | "name" | "status" | "owned_scope" | "constraints" | "acceptance_criteria";

export const intentListFields: ReadonlySet<IntentField> = new Set([
  "owned_scope",
  "constraints",
  "acceptance_criteria",
]);

/** The key under which the canonical form keeps its list. */
export const intentsKey = "active_intents";

/** Spellings found in the wild, without case and separators. */
const spellings: ReadonlyMap<string, IntentField> = new Map([
  ["id", "id"],
  ["intentid", "id"],
  ["name", "name"],
  ["title", "name"],
  ["status", "status"],
  ["state", "status"],
  ["ownedscope", "owned_scope"],
  ["ownedscopes", "owned_scope"],
  ["scope", "owned_scope"],
  ["scopes", "owned_scope"],
  ["constraints", "constraints"],
  ["constraint", "constraints"],
  ["acceptancecriteria", "acceptance_criteria"],
  ["acceptancecriterion", "acceptance_criteria"],
]);

/** The field that a key of an intent means; undefined for keys of other programs. */
export function intentField(key: string): IntentField | undefined {
  return spellings.get(plain(key));
}

/** True for a key of the file's root that holds the list of intents. */
export function isIntentsKey(key: string): boolean {
  const name = plain(key);
  return name === "activeintents" || name === "intents";
}

/**
 * For each field, the key that gives it. The canonical spelling wins, then the first in the object; the others are in
 * `ignored`.
 */
export function fieldKeys(keys: readonly string[]): {
  readonly chosen: ReadonlyMap<IntentField, string>;
  readonly ignored: readonly string[];
} {
  const chosen = new Map<IntentField, string>();
  for (const key of keys) {
    const field = intentField(key);
    if (field !== undefined && (!chosen.has(field) || key === field)) chosen.set(field, key);
  }
  const ignored = keys.filter((key) => {
    const field = intentField(key);
    return field !== undefined && chosen.get(field) !== key;
  });
  return { chosen, ignored };
}

function plain(key: string): string {
  return key.toLowerCase().replaceAll(/[_\-\s]/g, "");
}
