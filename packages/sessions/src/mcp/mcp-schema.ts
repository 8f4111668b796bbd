import { visibleText } from "@gennai/machine/web/visible-text";
import { isRecord } from "@gennai/protocol/json-value";

type Schema = Record<string, unknown>;

/** Keywords whose members are schemas, by names that the server chooses. */
const named: ReadonlySet<string> = new Set(["properties", "$defs", "definitions", "dependentSchemas"]);
/** Keywords with values, not schemas. */
const values: ReadonlySet<string> = new Set(["enum", "const", "default", "examples"]);

/**
 * A schema as shown to a model: its descriptions are instructions too, so hidden characters are removed. Providers take only an object
 * without alternatives at the top, and lists with a schema of what is in them, and refuse each request otherwise
 * (https://platform.openai.com/docs/guides/structured-outputs#supported-schemas); what is called is checked against the schema as it was.
 */
export function visibleSchema(schema: Schema): Schema {
  return visibleObject(flat(schema, schema));
}

/** The properties of all alternatives, of which those are required that each one requires. */
function flat(schema: Schema, root: Schema, depth = 0): Schema {
  const { anyOf, oneOf, allOf, not: _not, if: _if, then: _then, else: _else, $ref, ...own } = schema;
  const referred = typeof $ref === "string" && depth < 8 ? partAt(root, $ref) : undefined;
  const all = [allOf, [referred]].flatMap((each) => branches(each, root, depth));
  const any = [anyOf, oneOf].map((each) => branches(each, root, depth)).filter((each) => each.length > 0);
  const properties = [...any.flat(), ...all, own].flatMap((each) =>
    isRecord(each["properties"]) ? Object.entries(each["properties"]) : [],
  );
  const required = [own, ...all].flatMap(requiredOf);
  for (const each of any) {
    const [first = {}, ...others] = each;
    required.push(...requiredOf(first).filter((name) => others.every((other) => requiredOf(other).includes(name))));
  }
  // What only one alternative has must not be refused by another.
  const open = any.length > 0 || all.length > 0 ? { additionalProperties: true } : {};
  return {
    ...own,
    ...open,
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length > 0 ? { required: [...new Set(required)] } : {}),
  };
}

function branches(list: unknown, root: Schema, depth: number): readonly Schema[] {
  return Array.isArray(list) && depth < 8 ? list.filter(isRecord).map((each) => flat(each, root, depth + 1)) : [];
}

function requiredOf({ required }: Schema): readonly string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

function partAt(root: Schema, reference: string): unknown {
  const names = reference.startsWith("#/") ? reference.slice(2).split("/") : ["?"];
  return names.reduce<unknown>((part, name) => (isRecord(part) ? part[name] : undefined), root);
}

function visibleObject(object: object): Schema {
  const visible: Schema = Object.fromEntries(
    Object.entries(object).map(([key, inner]) => [visibleText(key), visibleValue(inner)]),
  );
  const isList = [visible["type"]].flat().includes("array");
  return isList && !("items" in visible || "prefixItems" in visible) ? { ...visible, items: {} } : visible;
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

/** https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2 */
const headerToken = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * Whether what a schema wants to be sent as a header cannot be: no header's name, twice the same, no plain value, or not a property
 * that is there for certain. A client must leave out such a tool (MCP 2026-07-28, basic/transports, x-mcp-header).
 */
export function hasUnfitHeader(schema: Schema): boolean {
  const seen = new Set<string>();
  const isUnfit = (value: unknown, place: "top" | "property" | "elsewhere"): boolean => {
    if (typeof value !== "object" || value === null) return false;
    const own: Schema = isRecord(value) ? value : {};
    const { "x-mcp-header": header, type } = own;
    if (header !== undefined) {
      if (place !== "property" || typeof header !== "string" || !headerToken.test(header)) return true;
      if (!["string", "integer", "boolean"].includes(String(type)) || seen.has(header.toLowerCase())) return true;
      seen.add(header.toLowerCase());
    }
    return Object.entries(value).some(([key, inner]: [string, unknown]) =>
      key === "properties" && isRecord(inner)
        ? Object.values(inner).some((each) => isUnfit(each, place === "elsewhere" ? place : "property"))
        : !values.has(key) && isUnfit(inner, "elsewhere"),
    );
  };
  return isUnfit(schema, "top");
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
