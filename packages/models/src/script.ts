import { parseStrictYaml, YamlError } from "@gennai/machine/config/strict-yaml";
import { errorMessage } from "@gennai/protocol/error-message";
import { z } from "zod";

const deltas = z.union([
  z.string().transform((text) => [text]),
  z.array(z.string()),
  z.strictObject({ repeat: z.int().min(1).max(1_000_000), chunk: z.string() }),
]);

const errorCodes = [
  "unreachable",
  "unauthorized",
  "rate_limited",
  "context_overflow",
  "bad_response",
  "not_configured",
] as const;

const stepSchemas = {
  thinking: z.strictObject({ thinking: deltas }),
  text: z.strictObject({ text: deltas }),
  tool: z.strictObject({
    tool: z
      .strictObject({
        name: z.string().min(1),
        args: z.record(z.string(), z.unknown()).optional(),
        /** In place of `args`: the arguments as text, also where they are not JSON. */
        args_json: z.string().optional(),
      })
      .refine(
        (tool) => tool.args === undefined || tool.args_json === undefined,
        "has both args and args_json; keep one",
      ),
  }),
  delay_ms: z.strictObject({ delay_ms: z.number().min(0).max(600_000) }),
  usage: z.strictObject({
    usage: z.strictObject({ input_tokens: z.int().min(0), output_tokens: z.int().min(0) }),
  }),
  error: z.strictObject({
    error: z.strictObject({
      code: z.enum(errorCodes),
      message: z.string(),
      hint: z.string().optional(),
      retryable: z.boolean().optional(),
    }),
  }),
};

/** A piece of streamed text: exact deltas, or one chunk many times. */
export type ScriptDeltas = z.output<typeof deltas>;
export type ScriptStep = z.output<(typeof stepSchemas)[keyof typeof stepSchemas]>;

/** Its one key says what a step is. */
const step = z.record(z.string(), z.unknown()).transform((written, context): ScriptStep => {
  const keys = Object.keys(written);
  const [, schema] = Object.entries(stepSchemas).find(([kind]) => kind === keys[0] && keys.length === 1) ?? [];
  const parsed = schema?.safeParse(written);
  if (parsed?.success === true) return parsed.data;
  const wanted = `a step is one of ${Object.keys(stepSchemas).join(", ")}`;
  const issue = parsed?.error.issues[0] ?? { message: `${wanted}, not ${keys.join(" and ") || "nothing"}`, path: [] };
  context.addIssue({ code: "custom", message: issue.message, path: issue.path });
  return z.NEVER;
});

const match = z.string().transform((written, context) => {
  try {
    return new RegExp(written, "i");
  } catch (cause) {
    context.addIssue(`is not a regular expression: ${errorMessage(cause)}`);
    return z.NEVER;
  }
});

const script = z.strictObject({
  turns: z
    .array(
      z
        .strictObject({ match: match.optional(), steps: z.array(step).min(1) })
        .transform((turn): ScriptTurn => ({ match: turn.match, answers: splitAnswers(turn.steps) })),
    )
    .min(1),
});

export interface ScriptTurn {
  /** The turn is for user messages that this matches; without it, for the next one that no `match` takes. */
  readonly match: RegExp | undefined;
  /** One list a model answer. */
  readonly answers: readonly (readonly ScriptStep[])[];
}

export interface Script {
  readonly file: string;
  readonly turns: readonly ScriptTurn[];
}

/** Reads a script: `turns: [{ match?, steps: [{ thinking | text | tool | delay_ms | usage | error }] }]`. Throws `YamlError`. */
export function parseScript(text: string, file: string): Script {
  const yaml = parseStrictYaml(text, file);
  const parsed = script.safeParse(yaml.data);
  if (parsed.success) return { file, turns: parsed.data.turns };
  const { message = "has the wrong shape", path = [] } = parsed.error.issues[0] ?? {};
  const keys = path.filter((key) => typeof key === "string" || typeof key === "number");
  const ways = keys.map((_, index) => keys.slice(0, keys.length - index));
  const line = ways.map((way) => yaml.lineOf(way)).find((found) => found !== undefined) ?? 1;
  const name = keys.map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`)).join("");
  throw new YamlError(file, line, `${name.replace(/^\./, "") || "script"}: ${message}`);
}

/** An answer ends after its tool calls; what the provider counted still belongs to it. */
function splitAnswers(steps: readonly ScriptStep[]): ScriptStep[][] {
  const answers: ScriptStep[][] = [[]];
  let calledTool = false;
  for (const each of steps) {
    if (calledTool && !("tool" in each) && !("usage" in each)) {
      answers.push([]);
      calledTool = false;
    }
    answers.at(-1)?.push(each);
    calledTool ||= "tool" in each;
  }
  return answers;
}
