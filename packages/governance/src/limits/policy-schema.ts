import { scopeWords } from "@gennai/protocol/model/governance/question";
import * as z from "zod";
import { type HookCommand, hookCommands, hooksSchema } from "../hooks/hook-config.ts";
import { compilePatterns } from "../rules/compile/compile-rules.ts";
import { describeRuleProblem, type NamedRule, type RuleFile } from "../rules/compile/rule-set.ts";
import { misspeltKey } from "../rules/misspelt-key.ts";
import { parseRules } from "../rules/parse-rules.ts";
import type { NamedPolicy } from "../verdict.ts";
import { managedExportSchema } from "./export-schema.ts";
import type { Limit } from "./limits.ts";

/** What may be permitted. `execute` covers commands that are not proven to read. */
export const capabilities = ["read", "propose", "write", "execute", "network", "high_impact"] as const;

export type Capability = (typeof capabilities)[number];

const texts = z.array(z.string().min(1).max(1_000)).max(1_000);
const hosts = z
  .array(z.string().regex(/^(?:\*\.)?[^\s:/@*]+:\d{1,5}$/, "not HOST:PORT; *. may stand before the host"))
  .max(1_000);
const servers = z
  .array(z.union([z.strictObject({ command: texts.min(1) }), z.strictObject({ url: z.url({ protocol: /^https?$/ }) })]))
  .max(1_000);

/** Agents of others that a policy can require to be guarded, by the words of `gennai guard install`. */
const guardable = ["claude-code", "codex", "copilot", "gemini", "opencode", "pi"] as const;

/** The keys that limit something. */
const policyKeys = {
  rules: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("As in `rules.yaml`, without `onInvalidRules`; they are named `rules/managed/NAME`."),
  protected_branches: texts.optional().describe("Branches, as globs, on which the agent never writes."),
  models: z
    .strictObject({
      allow: texts.optional().describe("`PROVIDER/MODEL`, as globs; others are refused."),
      deny: texts.optional().describe("The same; these are refused."),
      base_urls: z
        .array(z.url({ protocol: /^https?$/ }))
        .optional()
        .describe(
          "Origins of models' servers, e.g. `https://llm.acme.example`; others, and an editor's models, are refused.",
        ),
    })
    .optional()
    .describe("Models that may be used. The offline assistant always may."),
  network: z
    .strictObject({
      allow: hosts.optional().describe("`HOST:PORT` that a person may let through; `*.HOST` is every host below it."),
      deny: hosts.optional().describe("The same; these are refused."),
      ask: z.literal(false).optional().describe("What is not in `allow` is refused without a question."),
    })
    .optional()
    .describe("What tools and commands may reach. Commands that are not staged, and do more than read, are refused."),
  mcp: z
    .strictObject({
      allow: servers
        .optional()
        .describe(
          "`{command: [PROGRAM, ARGUMENT …]}`, all of it, or `{url}`, of which the origin counts; others do not start.",
        ),
      deny: servers.optional().describe("The same, with a command's first words; these do not start."),
    })
    .optional()
    .describe("MCP servers, known by what they run or where they are, never by name."),
  hooks: z
    .strictObject({
      only: z.literal(true).optional().describe("Hooks of users and projects do not run."),
      ...hooksSchema.shape.hooks.shape,
    })
    .optional()
    .describe("[Hooks](#hooks-hooksjson) that always run."),
  answers: z
    .strictObject({
      unattended_yes: z
        .literal(false)
        .optional()
        .describe("No yes ahead: `--yes`, `--allow` and `--ci-policy` are refused."),
      longest: z.enum(scopeWords.words).optional().describe("How long a yes may last at most."),
      remote: z
        .boolean()
        .optional()
        .describe("`false`: nobody is [asked elsewhere](../guides/answer-from-elsewhere.md), and no link answers."),
      two_persons: z
        .array(z.string().regex(/^rules\/./, "not the name of a rule, as rules/managed/NAME"))
        .max(1_000)
        .optional()
        .describe(
          "Rules that ask, as globs, e.g. `rules/managed/prod-*`: [another person](../managed-policy.md#two-persons) has to agree as well.",
        ),
    })
    .optional()
    .describe("How questions may be answered."),
  capabilities: z
    .array(z.enum(capabilities))
    .max(capabilities.length)
    .optional()
    .describe("What is permitted; what is absent is taken away."),
  emergency: z
    .strictObject({
      read_only: z.boolean().optional().describe("Nothing may be changed or run."),
      disable_high_impact: z.boolean().optional().describe("Actions of high risk are refused without a question."),
      block: z
        .array(z.string().min(1).max(200))
        .optional()
        .describe("Tools, programs, MCP servers (`mcp__name`) or `deploy` that are refused."),
    })
    .optional()
    .describe("Emergency controls that nobody can switch off."),
  export: z
    .array(managedExportSchema)
    .max(20)
    .optional()
    .describe("Where the ledger's records are sent, beside what users say."),
  retention: z
    .strictObject({
      content_days_most: z
        .int()
        .min(1)
        .max(36_500)
        .optional()
        .describe("Sessions that were not used for so many days are purged by a server, once a day."),
      records_days_least: z
        .int()
        .min(1)
        .max(36_500)
        .optional()
        .describe("How long the ledger's chain stays at least. It always does: a purge takes contents alone."),
    })
    .optional()
    .describe("How long what was done is kept."),
  require: z
    .strictObject({
      license: z.boolean().optional().describe("Without a signed policy of the user only reading is permitted."),
      sandbox: z.literal(true).optional().describe("Every command runs staged, in the sandbox; others are refused."),
      stages: z.literal(true).optional().describe("The same, but for commands that only read."),
      intents: z.literal("required").optional().describe("Every change needs an intent."),
      guard: z
        .array(z.enum(guardable))
        .optional()
        .describe("Agents that are not used unguarded where they are installed."),
      version: z
        .string()
        .regex(/^>=\d+\.\d+\.\d+$/, "not >=NUMBER.NUMBER.NUMBER")
        .optional()
        .describe("Older versions of Gennai only read."),
    })
    .optional()
    .describe("What must be there."),
};

/** A policy: root's `policy.yaml`, or a document that a user is given; `docs/reference/settings.md` is generated from it. */
export const policySchema = z.strictObject({
  gennai_policy: z.literal(1).describe("Always 1."),
  name: z.string().min(1).max(200).describe("Named in refusals."),
  contact: z.string().min(1).max(200).optional().describe("Whom to ask; named in refusals."),
  issued: z.iso.datetime({ offset: true }).optional().describe("RFC 3339; before that time only reading is permitted."),
  expires: z.iso.datetime({ offset: true }).optional().describe("RFC 3339; after that time only reading is permitted."),
  serial: z.int().min(1).optional().describe("Counts up with each version."),
  ...policyKeys,
});

type LimitKey = keyof typeof policyKeys;

export const limitKeys = [
  "capabilities",
  "emergency",
  "rules",
  "protected_branches",
  "models",
  "network",
  "mcp",
  "hooks",
  "answers",
  "export",
  "retention",
  "require",
] as const satisfies readonly LimitKey[];

export type PolicyDocument = z.infer<typeof policySchema>;
/** What a policy lays down: its keys, with rules and hooks as they were read. */
export type PolicyKeys = Readonly<Omit<Pick<PolicyDocument, LimitKey>, "rules" | "hooks">> & {
  readonly rules?: RuleFile | undefined;
  readonly hooks?: { readonly only: boolean; readonly commands: readonly HookCommand[] } | undefined;
};

/** A policy that cannot be used. The message begins with `FILE:LINE`. */
class PolicyError extends Error {
  override readonly name = "PolicyError";
  readonly code = "policy_invalid";
}

export interface PolicySource extends Pick<Limit, "holder" | "file"> {
  /** 1-based line of the value at a path, or of its key; undefined if there is none. */
  lineOf(path: readonly (string | number)[]): number | undefined;
}

/** The limits of a parsed policy file. Throws `PolicyError` with file, line and what to do. */
export function parsePolicy(data: unknown, { holder, file, lineOf }: PolicySource): Limit {
  const result = policySchema.safeParse(data);
  if (!result.success) {
    const { at, message } = policyProblem(result.error);
    throw new PolicyError(`${file}:${lineNear(at, lineOf)}: ${message}`);
  }
  const { gennai_policy: _version, issued, expires, rules, hooks, ...rest } = result.data;
  const times = [issued, expires].map((text) => (text === undefined ? undefined : Date.parse(text)));
  return {
    ...rest,
    ...(rules === undefined
      ? {}
      : { rules: managedRules(rules, { file, lineOf }, holder === "root" ? rest : undefined) }),
    ...(hooks === undefined ? {} : { hooks: managedHooks(hooks, { file, lineOf }) }),
    issued: times[0],
    expires: times[1],
    holder,
    file,
    lines: linesOf({ ...rest, rules, hooks }, lineOf),
  };
}

/** @param policy what refusals by these rules name; undefined: the user can lift it */
function managedRules(
  data: unknown,
  { file, lineOf }: Pick<PolicySource, "file" | "lineOf">,
  policy: NamedPolicy | undefined,
): RuleFile {
  const parsed = parseRules(data, { layer: "managed", file, lineOf: (path) => lineOf(["rules", ...path]) });
  const { problems } = compilePatterns(parsed.rules);
  const wrong = [...parsed.problems, ...problems].find(
    ({ severity, rule }) => severity === "error" || rule === "onInvalidRules",
  );
  if (wrong !== undefined) throw new PolicyError(describeRuleProblem(wrong));
  if (policy === undefined) return parsed.rules;
  const { name, contact } = policy;
  const of = <Rule extends NamedRule>(rules: readonly Rule[]): readonly Rule[] =>
    rules.map((rule) => ({ ...rule, policy: { name, contact } }));
  const { patterns, paths, tools } = parsed.rules;
  return { ...parsed.rules, patterns: of(patterns), paths: of(paths), tools: of(tools) };
}

function managedHooks(
  { only, ...events }: NonNullable<PolicyDocument["hooks"]>,
  { file, lineOf }: Pick<PolicySource, "file" | "lineOf">,
): PolicyKeys["hooks"] {
  const source = `${file}:${lineOf(["hooks"]) ?? 1}`;
  return { only: only === true, commands: hookCommands(events, source) };
}

/** The first thing that is wrong with a policy, for people, and where. */
export function policyProblem(error: z.ZodError): {
  readonly at: readonly (string | number)[];
  readonly message: string;
} {
  const [issue] = error.issues;
  const at = (issue?.path ?? []).filter((part) => typeof part !== "symbol");
  if (issue?.code !== "unrecognized_keys") {
    const field = at.join(".") || "the file";
    return { at, message: `${field} is not valid (${issue?.message ?? "unknown"}); correct it` };
  }
  const key = issue.keys[0] ?? "";
  const path = [...at, key];
  const known = keysAt(policySchema, at);
  const meant = misspeltKey(key, known);
  const hint = meant === undefined ? `known are ${known.join(", ")}` : `did you mean ${meant}?`;
  return { at: path, message: `${path.join(".")} is not a known key; ${hint}` };
}

function keysAt(schema: z.ZodType, path: readonly (string | number)[]): readonly string[] {
  let at: unknown = schema;
  for (const part of [...path, undefined]) {
    while (at instanceof z.ZodOptional) at = at.unwrap();
    if (at instanceof z.ZodArray) at = at.element;
    else if (at instanceof z.ZodObject) {
      if (part === undefined) return Object.keys(at.shape);
      at = at.shape[String(part)];
    }
  }
  return [];
}

function lineNear(path: readonly (string | number)[], lineOf: PolicySource["lineOf"]): number {
  for (let length = path.length; length > 0; length -= 1) {
    const line = lineOf(path.slice(0, length));
    if (line !== undefined) return line;
  }
  return 1;
}

/** The line of each key of the first two levels. */
function linesOf(data: object, lineOf: PolicySource["lineOf"]): Readonly<Record<string, number>> {
  const lines: Record<string, number> = {};
  for (const [key, value] of Object.entries<unknown>({ ...data })) {
    const inner = typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
    for (const path of [[key], ...inner.map((name) => [key, name])]) {
      const line = lineOf(path);
      if (line !== undefined) lines[path.join(".")] = line;
    }
  }
  return lines;
}
