import { anchor, code, table } from "./markdown.mjs";

/**
 * A message as a heading, its comment and the table of its fields.
 * @param {import("./protocol.mjs").Message} message
 * @param {{ readonly heading: string, readonly linkOf: (type: string) => string }} options
 * @returns {string[]}
 */
export function messageParts({ name, comment, fields }, { heading, linkOf }) {
  const rows = fields.map((field) => [
    String(field.number),
    code(field.name),
    linkOf(field.type),
    [field.oneof === "" ? "" : `One of ${code(field.oneof)}.`, field.comment].filter(Boolean).join(" "),
  ]);
  return [
    `${heading} ${name}`,
    comment,
    rows.length === 0 ? "No fields." : table(["number", "field", "type", "means"], rows),
  ];
}

/**
 * Links a type to its section: on this page, or on another.
 * @param {ReadonlyMap<string, string>} pages page of each type; empty: this one
 */
export function linksTo(pages) {
  return (/** @type {string} */ type) => {
    const name = type.replace(/^(repeated|optional) /, "");
    const place = pages.get(name);
    return place === undefined ? code(type) : `[${code(type)}](${place}#${anchor(name)})`;
  };
}

/**
 * The messages that only the event stream uses; the others are on the protocol's page.
 * @param {import("./protocol.mjs").Protocol} protocol
 * @returns {ReadonlySet<string>}
 */
export function eventMessages({ messages }) {
  const event = messages.find(({ name }) => name === "InvokeEvent");
  const known = new Set(messages.map(({ name }) => name));
  const types = (event?.fields ?? []).filter(({ oneof }) => oneof === "event").map(({ type }) => type);
  return new Set(["InvokeEvent", ...types.filter((type) => known.has(type))]);
}
