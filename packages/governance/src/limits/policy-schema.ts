import * as z from "zod";
import { misspeltKey } from "../rules/misspelt-key.ts";
import type { Limit } from "./limits.ts";

/** What may be permitted. `execute` covers commands that are not proven to read. */
export const capabilities = ["read", "propose", "write", "execute", "network", "high_impact"] as const;

export type Capability = (typeof capabilities)[number];

/** The keys that limit something. */
const policyKeys = {
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
  require: z
    .strictObject({
      license: z.boolean().optional().describe("Without a signed policy of the user only reading is permitted."),
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

export const limitKeys = [
  "capabilities",
  "emergency",
  "require",
] as const satisfies readonly (keyof typeof policyKeys)[];

export type PolicyDocument = z.infer<typeof policySchema>;
export type PolicyKeys = Readonly<Pick<PolicyDocument, keyof typeof policyKeys>>;

/** Keys of later versions: a file with one of them is refused, not half obeyed. */
const notYet: ReadonlySet<string> = new Set([
  ...["rules", "protected_branches", "models", "network", "mcp", "hooks", "answers", "export", "retention"],
  ...["require.sandbox", "require.stages", "require.intents", "require.guard", "require.version"],
]);

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
  const { gennai_policy: _version, issued, expires, ...rest } = result.data;
  const times = [issued, expires].map((text) => (text === undefined ? undefined : Date.parse(text)));
  return { ...rest, issued: times[0], expires: times[1], holder, file, lines: linesOf(rest, lineOf) };
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
  if (notYet.has(path.join("."))) {
    return {
      at: path,
      message: `${path.join(".")} is not supported by this version; remove it, or use a newer Gennai`,
    };
  }
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
