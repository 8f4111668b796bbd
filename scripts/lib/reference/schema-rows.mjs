import { code } from "./markdown.mjs";

/**
 * @typedef {object} Schema as far as the project's schemas make use of JSON Schema
 * @property {string | readonly string[]} [type]
 * @property {string} [description]
 * @property {unknown} [default]
 * @property {unknown} [const]
 * @property {readonly unknown[]} [enum]
 * @property {readonly Schema[]} [anyOf]
 * @property {Schema} [items]
 * @property {Readonly<Record<string, Schema>>} [properties]
 * @property {Schema | boolean} [additionalProperties]
 * @property {readonly string[]} [required]
 */

/**
 * The fields of a schema, one row each: name, type, default, what it means. Fields of fields follow theirs, as `outer.inner`,
 * `NAME` standing for a key and `[]` for an element; of alternatives, all fields once.
 * @param {Schema} schema
 * @returns {string[][]}
 */
export function schemaRows(schema) {
  /** @type {Map<string, string[]>} */
  const rows = new Map();
  for (const [name, row] of fieldsOf(schema, "")) if (!rows.has(name)) rows.set(name, row);
  return [...rows.values()];
}

/** @param {Schema} schema @param {string} prefix @returns {[name: string, row: string[]][]} */
function fieldsOf(schema, prefix) {
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap((one) => fieldsOf(one, prefix));
  if (schema.items !== undefined) return fieldsOf(schema.items, `${prefix}[]`);
  const inner = schema.additionalProperties;
  if (schema.properties === undefined && typeof inner === "object" && inner.type === "object") {
    return fieldsOf(inner, prefix === "" ? "NAME" : `${prefix}.NAME`);
  }
  const required = new Set(schema.required);
  return Object.entries(schema.properties ?? {}).flatMap(([key, field]) => {
    const name = prefix === "" ? key : `${prefix}.${key}`;
    const without = field.default === undefined ? (required.has(key) ? "required" : "") : codeOf(field.default);
    /** @type {[string, string[]]} */
    const own = [name, [code(name), typeOf(field), without, field.description ?? ""]];
    return [own, ...fieldsOf(field, name)];
  });
}

/** @param {Schema} field @returns {string} */
function typeOf(field) {
  if (field.anyOf !== undefined) {
    return [...new Set(field.anyOf.filter(({ type }) => type !== "null").map(typeOf))].join(" or ");
  }
  if (field.const !== undefined) return codeOf(field.const);
  if (field.enum !== undefined) return field.enum.map(codeOf).join(", ");
  if (field.items !== undefined) return `list of ${typeOf(field.items)}`;
  if (field.type === "object") return "map";
  return [field.type ?? "any"]
    .flat()
    .filter((type) => type !== "null")
    .join(" or ");
}

/** @param {unknown} value */
function codeOf(value) {
  return code(JSON.stringify(value));
}
