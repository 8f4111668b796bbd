import { join } from "node:path";
import type { Prices } from "@gennai/agent/turn-budget";
import { readUserFile } from "@gennai/machine/config/user-file";
import * as z from "zod";

/** In the user's configuration directory. */
export const modelsFile = "models.json";

const price = z.number().min(0).max(1e6);

/** The shape of the file; `docs/reference/settings.md` is made of it. */
export const modelFactsSchema = z.strictObject({
  currency: z.string().max(10).default("").describe("What the prices are in, e.g. `USD`; for people only."),
  models: z
    .record(
      z.string().min(1).max(200),
      z.strictObject({
        input: price.optional().describe("Price of a million tokens in."),
        output: price.optional().describe("Price of a million tokens out."),
        cached_input: price.optional().describe("Price of a million tokens from the cache. Without it: as `input`."),
        context_tokens: z.int().min(1).max(1e9).optional().describe("Tokens the model can take."),
      }),
    )
    .describe("By the model's name as settings have it, or with its backend: `qwen3`, `ollama/qwen3`."),
});

/** What the user wrote down about a model. */
export interface ModelFacts {
  /** undefined unless both prices, of input and of output, are there. */
  readonly prices: Prices | undefined;
  /** Tokens; 0 when not given. */
  readonly contextTokens: number;
}

export interface KnownModels {
  of(model: { readonly id: string; readonly name: string }): ModelFacts;
  /** What the user wrote that cannot be used. */
  readonly problem: string | undefined;
}

/** Reads the user's `models.json`. Never rejects: without it nothing is known. */
export async function loadModelFacts(configDir: string): Promise<KnownModels> {
  try {
    const text = await readUserFile(join(configDir, modelsFile));
    if (text === undefined) return { of: () => unknown, problem: undefined };
    const { currency, models } = modelFactsSchema.parse(JSON.parse(text));
    const byName = new Map(Object.entries(models));
    return {
      problem: undefined,
      of({ id, name }) {
        const found = byName.get(id) ?? byName.get(name);
        if (found === undefined) return unknown;
        const { input, output, cached_input: cachedInput = input, context_tokens: contextTokens = 0 } = found;
        const prices =
          input === undefined || output === undefined || cachedInput === undefined
            ? undefined
            : { currency, input, output, cachedInput };
        return { prices, contextTokens };
      },
    };
  } catch (error) {
    const issue = error instanceof z.ZodError ? error.issues[0] : undefined;
    const why =
      issue === undefined
        ? error instanceof Error
          ? error.message
          : String(error)
        : `${issue.path.join(".")}: ${issue.message}`;
    return { of: () => unknown, problem: `${modelsFile} cannot be used, so no prices are known: ${why}` };
  }
}

const unknown: ModelFacts = { prices: undefined, contextTokens: 0 };
