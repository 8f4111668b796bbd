import { ServiceError } from "@gennai/machine/service-error";
import { digestOf } from "@gennai/protocol/digest";
import { type JsonValue, parseStrictJson, StrictJsonError } from "@gennai/protocol/strict-json";
import * as z from "zod";
import { isStripped, publishedHash } from "./client-form.ts";
import { bodyLimit } from "./read-body.ts";

export interface SendBody {
  readonly text: string;
  /** The output must be an envelope; if it is not, the model is asked once more. */
  readonly strict: boolean;
  readonly context: JsonValue | undefined;
}

export interface PlanBody {
  /** The plan as the client holds it; `planHash` is its digest, or the hash that the published client makes of it. */
  readonly plan: JsonValue;
  readonly planHash: string;
}

export interface ApprovedPlanBody extends PlanBody {
  readonly approvalToken: string;
}

const json = z.custom<JsonValue>((value) => value !== undefined);
const sendSchema = z.object({
  text: z.string().min(1).max(100_000),
  strict: z.boolean().default(false),
  context: json.optional(),
});
const planFields = {
  plan: z.custom<JsonValue>((value) => typeof value === "object" && value !== null && !Array.isArray(value), {
    error: "must be the plan, an object",
  }),
  planHash: z.string().regex(/^[0-9a-f]{64}$/, "must be the SHA-256 of the plan: 64 hexadecimal digits in lower case"),
};
const planSchema = z.object(planFields);
const approvedSchema = z.object({ ...planFields, approvalToken: z.string().min(1).max(256) });

/** All of them throw `ServiceError` `invalid_argument` for a body that is not what the path takes. */
export function parseSend(text: string): SendBody {
  const { context, ...rest } = parse(text, sendSchema);
  return { ...rest, context };
}

export function parsePlan(text: string): PlanBody {
  return withOwnHash(parse(text, planSchema));
}

export function parseApprovedPlan(text: string): ApprovedPlanBody {
  return withOwnHash(parse(text, approvedSchema));
}

/** The hash must match the plan: a plan changed after hashing is refused. */
function withOwnHash<Body extends PlanBody>(body: Body): Body {
  const { plan, planHash } = body;
  if (digestOf(plan) === planHash) return body;
  // The weak hash of the published client is good for the form that this client has, which names a plan and holds none.
  if (isStripped(plan) && publishedHash(plan) === planHash) return body;
  throw new ServiceError("permission_denied", "planHash is not the hash of this plan.", {
    hint: "Hash the plan you send: SHA-256 over its JSON with sorted keys. If somebody changed the plan, look at it again.",
  });
}

function parse<Body>(text: string, schema: z.ZodType<Body>): Body {
  let value: JsonValue;
  try {
    value = parseStrictJson(text, { maxLength: bodyLimit });
  } catch (cause) {
    if (!(cause instanceof StrictJsonError)) throw cause;
    const place = cause.path === "" ? "The body" : cause.path;
    throw new ServiceError("invalid_argument", `${place}: ${cause.message}`, { cause });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "The body"}: ${message}`);
  throw new ServiceError("invalid_argument", `${issues.join("; ")}.`);
}
