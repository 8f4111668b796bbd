/** Values of the placeholders. */
export interface PromptValues {
  readonly userInput: string;
  readonly workingDir: string;
  readonly scenario: string;
  /** Why this scenario was chosen. */
  readonly scenarioReason: string;
  readonly todos: string;
  /** The project's notes for agents, e.g. from `AGENT.md`. */
  readonly projectNotes: string;
  readonly date: string;
  readonly platform: string;
}

const valueNames = [
  "userInput",
  "workingDir",
  "scenario",
  "scenarioReason",
  "todos",
  "projectNotes",
  "date",
  "platform",
] as const satisfies readonly (keyof PromptValues)[];

type ValueName = (typeof valueNames)[number];

/** The spelling shown in messages. */
export const knownPlaceholders: readonly string[] = [...valueNames.map((name) => `{{${name}}}`), "{{ @AGENTS.md }}"];

const byPlainName: ReadonlyMap<string, ValueName> = new Map([
  ...valueNames.map((name): [string, ValueName] => [name.toLowerCase(), name]),
  ["workingdirectory", "workingDir"],
  ["input", "userInput"],
  ["@agents.md", "projectNotes"],
  ["@agent.md", "projectNotes"],
  ["@claude.md", "projectNotes"],
]);

// A backslash before the braces makes them literal.
const placeholder = /\\?\{\{([^{}]*)\}\}/g;

/**
 * Replaces `{{userInput}}`, `{{.UserInput}}`, `{{ user_input }}` and so on with values, once: braces inside a value
 * stay text. `\{{x}}` gives `{{x}}`. Unknown placeholders stay unchanged; find them with `unknownPlaceholders`
 * beforehand.
 */
export function fillTemplate(template: string, values: PromptValues): string {
  return template.replace(placeholder, (whole: string, inner: string) => {
    if (whole.startsWith("\\")) return whole.slice(1);
    const name = valueNameOf(inner);
    return name === undefined ? whole : values[name];
  });
}

/** Unknown placeholders as written, without duplicates. */
export function unknownPlaceholders(template: string): readonly string[] {
  const found = new Set<string>();
  for (const [whole, inner = ""] of template.matchAll(placeholder)) {
    if (!whole.startsWith("\\") && valueNameOf(inner) === undefined) found.add(whole);
  }
  return [...found];
}

export function usesPlaceholder(template: string, name: ValueName): boolean {
  return [...template.matchAll(placeholder)].some(
    ([whole, inner = ""]) => !whole.startsWith("\\") && valueNameOf(inner) === name,
  );
}

function valueNameOf(inner: string): ValueName | undefined {
  const written = inner.trim().toLowerCase();
  if (written.startsWith("@")) return byPlainName.get(written);
  return byPlainName.get(written.replace(/^\./, "").replaceAll(/[_-]/g, ""));
}
