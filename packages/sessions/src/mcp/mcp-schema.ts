import { visibleText } from "@gennai/machine/web/visible-text";
import { isRecord } from "@gennai/protocol/json-value";

type Schema = Record<string, unknown>;

/** Keywords whose members are schemas, by names that the server chooses. */
const named: ReadonlySet<string> = new Set(["properties", "$defs", "definitions", "dependentSchemas"]);
/** Keywords with values, not schemas. */
const values: ReadonlySet<string> = new Set(["enum", "const", "default", "examples"]);

/** A schema as shown to a model: its descriptions are instructions too, so hidden characters are removed. */
export function visibleSchema(schema: Schema): Schema {
  return visibleObject(schema);
}

function visibleObject(object: object): Schema {
  return Object.fromEntries(Object.entries(object).map(([key, inner]) => [visibleText(key), visibleValue(inner)]));
}

function visibleValue(value: unknown): unknown {
  if (typeof value === "string") return visibleText(value);
  if (Array.isArray(value)) return value.map(visibleValue);
  return typeof value === "object" && value !== null ? visibleObject(value) : value;
}

/**
 * The part of a schema that is checked here. Patterns are left to the server: evaluating one could block this process for very
 * long. Undefined for a schema with references, which can expand without end.
 */
export function checkableSchema(schema: Schema): Schema | undefined {
  const checked: Schema = {};
  for (const [key, inner] of Object.entries(schema)) {
    if (key === "$ref" || key === "$dynamicRef" || key === "$recursiveRef") return undefined;
    if (key === "pattern" || key === "patternProperties" || key === "propertyNames" || key === "format") {
      // Properties that match a dropped pattern must not be refused by another keyword.
      if (key === "patternProperties") checked["additionalProperties"] = true;
      continue;
    }
    if (key === "additionalProperties" && "patternProperties" in schema) continue;
    const part = values.has(key) ? inner : named.has(key) ? checkableMembers(inner) : checkablePart(inner);
    if (part === undefined && inner !== undefined) return undefined;
    checked[key] = part;
  }
  return checked;
}

function checkablePart(value: unknown): unknown {
  if (Array.isArray(value)) {
    const parts = value.map(checkablePart);
    return parts.includes(undefined) ? undefined : parts;
  }
  return isRecord(value) ? checkableSchema(value) : value;
}

function checkableMembers(members: unknown): unknown {
  if (!isRecord(members)) return members;
  const parts = Object.entries(members).map(([name, inner]) => [name, checkablePart(inner)] as const);
  return parts.some(([, part]) => part === undefined) ? undefined : Object.fromEntries(parts);
}

/** Whether a `$ref` leads nowhere in the schema, or out of it. @param schema not deeper than canonical JSON */
export function hasLostReference(schema: Schema): boolean {
  const isLost = (value: unknown): boolean => {
    if (typeof value !== "object" || value === null) return false;
    return Object.entries(value).some(([key, inner]: [string, unknown]) =>
      key === "$ref" && typeof inner === "string" ? !leadsInto(schema, inner) : !values.has(key) && isLost(inner),
    );
  };
  return isLost(schema);
}

/** Of anchors and percent signs it is not looked at where they lead. */
function leadsInto(schema: Schema, reference: string): boolean {
  if (!reference.startsWith("#")) return false;
  if (reference.includes("%")) return true;
  let at: unknown = schema;
  for (const part of reference.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return false;
    at = Reflect.get(at, key);
  }
  return true;
}
