import { join } from "node:path";
import { readUserFile } from "@gennai/machine/config/user-file";
import { errorMessage } from "@gennai/protocol/error-message";
import * as z from "zod";

/** In the user's configuration directory. */
export const modelsFile = "models.json";

const price = z.number().min(0).max(1e6);
const tokens = z.int().min(1).max(1e9);

/** Of these, a request has its own. */
const requestsOwn = new Set(["connection", "content-length", "content-type", "host", "transfer-encoding"]);
const headerName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,100}$/, "is not a header name")
  .refine((name) => !requestsOwn.has(name.toLowerCase()), "is a header that each request has of its own");
const headerValue = z
  .string()
  .max(4_000)
  .regex(/^[\x20-\x7E]*$/, "is not a header value: use plain characters on one line");
const httpAddress = z.string().refine(isHttpAddress, "is not an http or https address");

/** The shape of the file; `docs/reference/settings.md` is generated from it. */
export const modelsFileSchema = z.strictObject({
  currency: z
    .string()
    .max(10)
    .default("USD")
    .describe("What the prices are in. Those of the catalogue are in USD, and do not count beside another currency."),
  models: z
    .record(
      z.string().min(1).max(200),
      z.strictObject({
        input: price.optional().describe("Price of a million tokens in."),
        output: price.optional().describe("Price of a million tokens out."),
        cached_input: price.optional().describe("Price of a million tokens from the cache. Without it: as `input`."),
        cache_write: price.optional().describe("Price of a million tokens into the cache. Without it: as `input`."),
        context_tokens: tokens.optional().describe("Tokens the model can take."),
        output_tokens: tokens.optional().describe("Tokens an answer may have."),
        thinking: z.boolean().optional().describe("Whether the model thinks; others are not asked to."),
        images: z.boolean().optional().describe("Whether the model takes images."),
      }),
    )
    .default({})
    .describe("By the model's name as settings have it, or with its backend: `qwen3`, `ollama/qwen3`."),
  headers: z
    .record(httpAddress, z.record(headerName, headerValue))
    .default({})
    .describe(
      'Headers that requests to an address get: `{"https://gateway.example.com/v1": {"X-Team": "${TEAM}"}}`. It covers what lies below the address; `${NAME}` is a variable of the server\'s environment. Keys of that environment may go to the addresses that stand here.',
    ),
});

export type ModelsFile = z.output<typeof modelsFileSchema> & {
  /** Why nothing of it can be used. */
  readonly problem: string | undefined;
};

/** What the user wrote down about models. Never rejects. */
export async function readModelsFile(configDir: string): Promise<ModelsFile> {
  try {
    const text = await readUserFile(join(configDir, modelsFile));
    return { ...modelsFileSchema.parse(text === undefined ? {} : JSON.parse(text)), problem: undefined };
  } catch (error) {
    const problem = `${modelsFile} cannot be used, so no prices are known and none of its headers are sent: ${reasonOf(error)}`;
    return { ...modelsFileSchema.parse({}), problem };
  }
}

function reasonOf(error: unknown): string {
  const issue = error instanceof z.ZodError ? error.issues[0] : undefined;
  // Of a name that cannot be one, the reason lies inside.
  const inner = issue?.code === "invalid_key" ? issue.issues[0] : issue;
  if (issue !== undefined) return `${issue.path.join(".")}: ${inner?.message ?? issue.message}`;
  return errorMessage(error);
}

function isHttpAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
