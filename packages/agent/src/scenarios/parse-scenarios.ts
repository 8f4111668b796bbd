import { planScenarioName } from "@gennai/protocol/model/governance/plan";
import { z } from "zod";
import { unknownPlaceholders } from "./prompt-template.ts";
import { unknownPlaceholderMessage } from "./render-prompt.ts";
import type { Scenario, ScenarioProblem, ScenarioSource } from "./scenario.ts";
import { canChange, editorSafe, readingOnly, selectTools, toolGroupNames } from "./tool-groups.ts";

/** The scenario in which nothing may be written. */
const editorScenarioName = "EDITOR_CODE";

/** One scenario of a file; `docs/reference/settings.md` is generated from it. */
export const scenarioSchema = z.looseObject({
  tools: z
    .union([z.string(), z.array(z.string())])
    .nullish()
    .describe("Groups or single tools, as a list or a text such as `default, todo`. Without it: `default`."),
  description: z.string().nullish().describe("One line, for lists."),
  prompt: z
    .string()
    .nullish()
    .describe("The system prompt. May be left out only where a built-in scenario is changed."),
});

const knownFields: ReadonlySet<string> = new Set(["tools", "description", "prompt"]);
const mending: Readonly<Record<string, string>> = {
  tools: 'write a text such as "default, todo" or a list of such words',
  description: "write one line of text",
  prompt: "write a block of text after `prompt: |`",
};
const nameShape = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

export interface ParsedScenarios {
  readonly scenarios: readonly Scenario[];
  /** Errors (the scenario is missing from `scenarios`) and warnings, in the order of the file. */
  readonly problems: readonly ScenarioProblem[];
}

/**
 * Reads a map `NAME: { tools?, description?, prompt }`. An invalid scenario does not affect the others. A name that
 * exists in `base` overrides it: missing fields are taken from there, and `EDITOR_CODE` and `PLAN` can lose tools but
 * never gain one that writes.
 */
export function parseScenarios(
  data: unknown,
  source: ScenarioSource,
  base: ReadonlyMap<string, Scenario> = new Map(),
): ParsedScenarios {
  const scenarios = new Map<string, Scenario>();
  const problems: ScenarioProblem[] = [];
  if (data === null || data === undefined) return { scenarios: [], problems };
  const file = z.record(z.string(), z.unknown()).safeParse(data);
  if (!file.success) {
    problems.push(
      fileProblem(source, "must be a map of scenarios, each `NAME:` with `tools`, `description` and `prompt`"),
    );
    return { scenarios: [], problems };
  }
  for (const [key, value] of Object.entries(file.data)) {
    const parsed = parseScenario(key, value, source, base, problems);
    if (parsed === undefined) continue;
    if (scenarios.has(parsed.name)) {
      problems.push({
        ...problemAt(source, key, ""),
        severity: "error",
        code: "duplicate_name",
        message: `the name ${parsed.name} is taken in this file already; names differ in more than upper and lower case`,
      });
    } else scenarios.set(parsed.name, parsed);
  }
  return { scenarios: [...scenarios.values()], problems };
}

function parseScenario(
  key: string,
  value: unknown,
  source: ScenarioSource,
  base: ReadonlyMap<string, Scenario>,
  problems: ScenarioProblem[],
): Scenario | undefined {
  const report = (
    severity: ScenarioProblem["severity"],
    code: ScenarioProblem["code"],
    field: string,
    message: string,
    needle?: string,
  ) => problems.push({ ...problemAt(source, key, field, needle), severity, code, message });

  if (!nameShape.test(key)) {
    report("error", "invalid_name", "", "a name is a letter, then letters, digits, `_` or `-`, at most 64 in all");
    return undefined;
  }
  const name = key.toUpperCase();
  const inherited = base.get(name);
  const definition = scenarioSchema.safeParse(value);
  if (!definition.success) {
    for (const issue of definition.error.issues) {
      const field = String(issue.path[0] ?? "");
      const mend = mending[field] ?? "write a map with `tools`, `description` and `prompt`";
      report("error", "invalid_field", field, `has the wrong shape; ${mend}`);
    }
    return undefined;
  }
  for (const field of Object.keys(definition.data)) {
    if (!knownFields.has(field)) {
      report(
        "warning",
        "unknown_field",
        field,
        "is not known here and is ignored; known are tools, description, prompt",
      );
    }
  }

  const prompt = definition.data.prompt ?? inherited?.prompt ?? "";
  if (prompt.trim() === "") {
    report("error", "invalid_field", "prompt", `is missing or empty; ${mending["prompt"]}`);
    return undefined;
  }
  const unknown = unknownPlaceholders(prompt);
  if (unknown.length > 0) {
    report("error", "unknown_placeholder", "prompt", unknownPlaceholderMessage(unknown), unknown[0]);
    return undefined;
  }

  const words = toolWords(definition.data.tools);
  const inheritsTools = words.length === 0 && inherited !== undefined;
  const selection = selectTools(words.length === 0 ? ["default"] : words);
  for (const word of selection.unknown) {
    report(
      "warning",
      "unknown_tool",
      "tools",
      `"${word}" is not a tool or group and is ignored; groups are ${toolGroupNames.join(", ")}`,
      word,
    );
  }
  let tools = inheritsTools ? inherited.tools : selection.tools;
  let mcp = inheritsTools ? inherited.mcp : selection.mcp;
  if (name === editorScenarioName || name === planScenarioName) {
    const safe = name === planScenarioName ? readingOnly(tools) : editorSafe(tools);
    const allowed = safe.filter((tool) => inherited === undefined || inherited.tools.includes(tool));
    // What an MCP tool does is unknown here, so none counts as safe.
    const removed = [...tools.filter((tool) => !allowed.includes(tool)), ...mcp.map((server) => `mcp:${server}`)];
    if (removed.length > 0) {
      const message = `${removed.join(", ")} left out: ${name} never writes and runs nothing; use another name`;
      report("warning", "tools_narrowed", "tools", message);
    }
    tools = allowed;
    mcp = [];
  } else if (inherited !== undefined && !canChange(inherited.tools) && canChange(tools)) {
    report(
      "warning",
      "tools_widened",
      "tools",
      `${name} only reads as built in, and can change things as written here`,
    );
  }
  return {
    name,
    description: definition.data.description?.trim() ?? inherited?.description ?? "",
    tools,
    toolsText: inheritsTools ? inherited.toolsText : words.length === 0 ? "default" : words.join(", "),
    mcp,
    prompt,
    source: source.file,
  };
}

function toolWords(tools: string | readonly string[] | null | undefined): readonly string[] {
  const parts = typeof tools === "string" ? [tools] : (tools ?? []);
  return parts
    .flatMap((part) => part.split(/[,\n]/))
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

function problemAt(source: ScenarioSource, scenario: string, field: string, needle?: string) {
  const path = field === "" ? [scenario] : [scenario, field];
  const line = source.lineOf(path, needle) ?? source.lineOf([scenario]);
  return { file: source.file, line, scenario, field };
}

function fileProblem(source: ScenarioSource, message: string): ScenarioProblem {
  return {
    severity: "error",
    code: "invalid_file",
    file: source.file,
    line: source.lineOf([]) ?? 1,
    scenario: "",
    field: "",
    message,
  };
}
