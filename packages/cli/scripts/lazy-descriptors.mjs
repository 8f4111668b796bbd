// The protocol's library describes all fields of all messages when it is loaded, a tenth of a start; one session needs few of the
// messages. In the bundle it describes a message's fields when they are first asked for.
import { readFile } from "node:fs/promises";

/** What stands in the library, and what takes its place. @type {readonly (readonly [string, string])[]} */
const changes = [
  [
    `        fields: [],
        field: {},
        oneofs: [],
        members: [],
        nestedEnums: [],
`,
    `        __proto__: fieldsWhenAsked,
        describeFields: undefined,
        described: undefined,
        nestedEnums: [],
`,
  ],
  ["function addFields(message, reg, mapEntries) {\n", "function describeFields(message, reg, mapEntries) {\n"],
  [
    `    for (const child of message.nestedMessages) {
        addFields(child, reg, mapEntries);
    }
}
`,
    `}
function addFields(message, reg, mapEntries) {
    message.describeFields = () => describeFields(message, reg, mapEntries);
    for (const child of message.nestedMessages) addFields(child, reg, mapEntries);
}
function describedOf(message) {
    const { describeFields } = message;
    if (describeFields !== undefined) {
        message.describeFields = undefined;
        message.described = { fields: [], field: {}, oneofs: [], members: [] };
        describeFields();
    }
    return message.described;
}
const fieldsWhenAsked = {
    get fields() { return describedOf(this).fields; },
    get field() { return describedOf(this).field; },
    get oneofs() { return describedOf(this).oneofs; },
    get members() { return describedOf(this).members; },
};
`,
  ],
];

/** @type {import("esbuild").Plugin} */
export const lazyDescriptors = {
  name: "lazy-descriptors",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]@bufbuild[\\/]protobuf[\\/]dist[\\/]esm[\\/]registry\.js$/ }, async ({ path }) => {
      let contents = await readFile(path, "utf8");
      for (const [found, put] of changes) {
        if (contents.split(found).length !== 2) return { errors: [{ text: `${path} has not once:\n${found}` }] };
        contents = contents.replace(found, () => put);
      }
      return { contents, loader: "js" };
    });
  },
};
