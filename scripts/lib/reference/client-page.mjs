import { clientExports } from "../client-program.mjs";

/** What `@gennai/client` exports, from its declarations. */
export function clientPage() {
  const { index, node } = clientExports();
  return `# @gennai/client

What the package exports; [its guide](../guides/write-a-client.md) shows it at work. \`@gennai/client\` runs in browsers as well,
\`@gennai/client/node\` exports the same, and finds or starts a server.

## @gennai/client/node

${sections(node)}

## @gennai/client

${sections(index)}
`;
}

/** Functions and classes first. @param {readonly import("../declarations.mjs").Declaration[]} declarations */
function sections(declarations) {
  const exported = declarations.filter(({ isExported }) => isExported);
  const values = exported.filter(({ isValue }) => isValue);
  const types = exported.filter(({ isValue }) => !isValue);
  const others = declarations.filter(({ isExported }) => !isExported);
  return [...values, ...types, ...others].map(section).join("\n\n");
}

/** @param {import("../declarations.mjs").Declaration} declaration */
function section({ name, comment, text }) {
  const heading = `### ${name}`;
  if (name === "ErrorCode") return `${heading}\n\n${comment.split(". ")[0]}. [Errors](errors.md) lists them.`;
  const told = comment.replaceAll(/^@(\w+) (\w+) /gm, "`$2`: ");
  return [heading, told, `\`\`\`ts\n${text}\n\`\`\``].filter((part) => part !== "").join("\n\n");
}
