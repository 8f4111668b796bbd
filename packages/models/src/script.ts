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

const thinkingStep = z.strictObject({ thinking: deltas });
const textStep = z.strictObject({ text: deltas });
const toolStep = z.strictObject({
  tool: z
    .strictObject({
      name: z.string().min(1),
      args: z.record(z.string(), z.unknown()).optional(),
      /** In place of `args`: the arguments as text, also where they are not JSON. */
      args_json: z.string().optional(),
    })
    .refine((tool) => tool.args === undefined || tool.args_json === undefined, "has both args and args_json; keep one"),
});
const delayStep = z.strictObject({ delay_ms: z.number().min(0).max(600_000) });
const usageStep = z.strictObject({
  usage: z.strictObject({ input_tokens: z.int().min(0), output_tokens: z.int().min(0) }),
});
const errorStep = z.strictObject({
  error: z.strictObject({
    code: z.enum(errorCodes),
    message: z.string(),
    hint: z.string().optional(),
    retryable: z.boolean().optional(),
  }),
});

const stepSchemas = {
  thinking: thinkingStep,
  text: textStep,
  tool: toolStep,
  delay_ms: delayStep,
  usage: usageStep,
  error: errorStep,
};

/** A piece of streamed text: exact deltas, or one chunk many times. */
export type ScriptDeltas = z.output<typeof deltas>;
export type ScriptStep =
  | z.output<typeof thinkingStep>
  | z.output<typeof textStep>
  | z.output<typeof toolStep>
  | z.output<typeof delayStep>
  | z.output<typeof usageStep>
  | z.output<typeof errorStep>;

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

const scriptShape = z.strictObject({ turns: z.array(z.unknown()).min(1) });
const turnShape = z.strictObject({ match: z.string().optional(), steps: z.array(z.unknown()).min(1) });

/** Reads a script: `turns: [{ match?, steps: [{ thinking | text | tool | delay_ms | usage | error }] }]`. Throws `YamlError`. */
export function parseScript(text: string, file: string): Script {
  const yaml = parseStrictYaml(text, file);
  const check = <T>(schema: z.ZodType<T>, value: unknown, path: readonly (string | number)[]): T => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    const issue = parsed.error.issues[0];
    const inner = (issue?.path ?? []).filter((key) => typeof key === "string" || typeof key === "number");
    const whole = [...path, ...inner];
    const line = yaml.lineOf(whole) ?? yaml.lineOf(path) ?? 1;
    throw new YamlError(file, line, `${fieldName(whole)}: ${issue?.message ?? "has the wrong shape"}`);
  };

  const turns = check(scriptShape, yaml.data, []).turns.map((value, turnIndex): ScriptTurn => {
    const path = ["turns", turnIndex];
    const turn = check(turnShape, value, path);
    const steps = turn.steps.map((step, stepIndex): ScriptStep => {
      const stepPath = [...path, "steps", stepIndex];
      const keys = Object.keys(check(z.record(z.string(), z.unknown()), step, stepPath));
      const kind = z.enum(["thinking", "text", "tool", "delay_ms", "usage", "error"]).safeParse(keys[0]);
      if (keys.length !== 1 || !kind.success) {
        const wanted = `a step is one of ${Object.keys(stepSchemas).join(", ")}`;
        throw new YamlError(
          file,
          yaml.lineOf(stepPath) ?? 1,
          `${fieldName(stepPath)}: ${wanted}, not ${keys.join(" and ") || "nothing"}`,
        );
      }
      return check<ScriptStep>(stepSchemas[kind.data], step, stepPath);
    });
    return { match: matcher(turn.match, file, yaml.lineOf([...path, "match"]) ?? 1), answers: splitAnswers(steps) };
  });
  return { file, turns };
}

/** An answer ends after its tool calls; what the provider counted still belongs to it. */
function splitAnswers(steps: readonly ScriptStep[]): ScriptStep[][] {
  const answers: ScriptStep[][] = [];
  let current: ScriptStep[] = [];
  let calledTool = false;
  for (const step of steps) {
    if (calledTool && !("tool" in step) && !("usage" in step)) {
      answers.push(current);
      current = [];
      calledTool = false;
    }
    current.push(step);
    calledTool ||= "tool" in step;
  }
  answers.push(current);
  return answers;
}

function matcher(written: string | undefined, file: string, line: number): RegExp | undefined {
  if (written === undefined) return undefined;
  try {
    return new RegExp(written, "i");
  } catch (cause) {
    throw new YamlError(file, line, `match is not a regular expression: ${errorMessage(cause)}`, {
      cause,
    });
  }
}

function fieldName(path: readonly (string | number)[]): string {
  const name = path.map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`)).join("");
  return name === "" ? "script" : name.replace(/^\./, "");
}
