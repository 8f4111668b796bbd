import {
  fieldKeys,
  intentField,
  intentListFields,
  intentsKey,
  isIntentsKey,
} from "@gennai/governance/intents/intent-fields";
import { linesOf } from "@gennai/governance/intents/parse-intents";
import { type Document, isMap, isScalar, isSeq, parseDocument, YAMLMap, YAMLSeq } from "yaml";

/** Why a text cannot be written in the canonical form. */
export class IntentsFormatError extends Error {
  override readonly name = "IntentsFormatError";
}

/**
 * The same intents in canonical form: a list under `active_intents`, canonical field names, lists where lists belong. Unknown
 * fields, comments and order are kept. Throws `IntentsFormatError` if the text is not a list of intents.
 *
 * @param more entries added to the scope of an intent, by its id
 */
export function formatIntents(text: string, more: ReadonlyMap<string, readonly string[]> = new Map()): string {
  const document = parseDocument(text, { uniqueKeys: true, prettyErrors: false, version: "1.2" });
  if (document.errors.length > 0) throw new IntentsFormatError("The intents file is not valid YAML.");
  const list = canonicalList(document);
  const missing = new Set(more.keys());
  for (const item of list.items) {
    if (!isMap(item)) continue;
    canonicalFields(document, item);
    const id = String(item.get("id")).trim();
    const entries = more.get(id);
    if (entries === undefined) continue;
    missing.delete(id);
    extendScope(document, item, entries);
  }
  if (missing.size > 0) throw new IntentsFormatError(`The intents file has no intent ${[...missing].join(", ")}.`);
  return document.toString({ lineWidth: 0 });
}

function canonicalList(document: Document): YAMLSeq {
  const root = document.contents;
  if (root === null || (isScalar(root) && root.value === null)) {
    const list = new YAMLSeq();
    document.contents = document.createNode({ [intentsKey]: list });
    return list;
  }
  if (isSeq(root)) {
    const map = new YAMLMap();
    map.set(intentsKey, root);
    document.contents = map;
    return root;
  }
  if (!isMap(root)) throw new IntentsFormatError("The intents file does not hold a list of intents.");
  const pairs = root.items.filter((pair) => isIntentsKey(keyOf(pair.key)));
  const pair = pairs.find((each) => keyOf(each.key) === intentsKey) ?? pairs[0];
  if (pair === undefined) throw new IntentsFormatError("The intents file does not hold a list of intents.");
  renameKey(document, pair, intentsKey);
  const { value } = pair;
  if (isSeq(value)) return value;
  const list = new YAMLSeq();
  pair.value = list;
  if (isMap(value)) {
    for (const each of value.items) {
      if (!isMap(each.value)) throw new IntentsFormatError(`The intent ${keyOf(each.key)} is not a map.`);
      const named = each.value.items.some((field) => intentField(keyOf(field.key)) === "id");
      if (!named) each.value.items.unshift(document.createPair("id", keyOf(each.key)));
      list.items.push(each.value);
    }
  } else if (!(value === null || (isScalar(value) && value.value === null))) {
    throw new IntentsFormatError("The intents file does not hold a list of intents.");
  }
  return list;
}

function canonicalFields(document: Document, item: YAMLMap): void {
  const { chosen } = fieldKeys(item.items.map((pair) => keyOf(pair.key)));
  for (const [field, key] of chosen) {
    const pair = item.items.find((each) => keyOf(each.key) === key);
    if (pair === undefined) continue;
    renameKey(document, pair, field);
    if (!intentListFields.has(field) || isSeq(pair.value)) continue;
    const said: unknown = isScalar(pair.value) ? pair.value.value : pair.value;
    if (said === null || typeof said === "string") pair.value = document.createNode(said === null ? [] : linesOf(said));
  }
}

function extendScope(document: Document, item: YAMLMap, entries: readonly string[]): void {
  const old: unknown = item.get("owned_scope", true);
  const list = isSeq(old) ? old : new YAMLSeq();
  // An empty list is written in brackets; entries added to it should not be.
  if (list.items.length === 0) list.flow = false;
  for (const entry of entries) list.items.push(document.createNode(entry));
  item.set("owned_scope", list);
}

function renameKey(document: Document, pair: { key: unknown }, name: string): void {
  if (isScalar(pair.key)) pair.key.value = name;
  else pair.key = document.createNode(name);
}

function keyOf(key: unknown): string {
  return String(isScalar(key) ? key.value : key);
}
