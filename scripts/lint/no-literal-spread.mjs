// A rule for oxlint: `{ ...{ a, b } }` is `{ a, b }`, but TypeScript no longer checks it for properties that do not exist.
const rule = {
  meta: {
    type: "problem",
    messages: { useless: "Write the properties themselves: within a spread, misspelt ones are not noticed." },
  },
  /** @param {{ report(problem: { node: unknown, messageId: string }): void }} context */
  create(context) {
    return {
      /** @param {{ parent: { type: string }, argument: { type: string } }} node */
      SpreadElement(node) {
        if (node.parent.type === "ObjectExpression" && node.argument.type === "ObjectExpression") {
          context.report({ node, messageId: "useless" });
        }
      },
    };
  },
};

export default { meta: { name: "gennai" }, rules: { "no-literal-spread": rule } };
