import type { Intent } from "./intent.ts";

/** The block in which a model reads its intent. Everything in it is escaped: the words come from a file of the workspace. */
export function intentContext(intent: Intent): string {
  return [
    "<intent_context>",
    `  <id>${escaped(intent.id)}</id>`,
    `  <name>${escaped(intent.name)}</name>`,
    ...list("owned_scope", "path", intent.ownedScope),
    ...list("constraints", "constraint", intent.constraints),
    ...list("acceptance_criteria", "criterion", intent.acceptanceCriteria),
    "</intent_context>",
  ].join("\n");
}

function list(name: string, item: string, values: readonly string[]): readonly string[] {
  if (values.length === 0) return [`  <${name}/>`];
  return [`  <${name}>`, ...values.map((value) => `    <${item}>${escaped(value)}</${item}>`), `  </${name}>`];
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Without the characters that XML cannot hold and those that cannot be seen. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\P{C}\n\t]|[\u2028\u2029\ufffe\uffff]/gu, "")
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? "");
}
