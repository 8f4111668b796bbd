import { canonicalJson } from "@gennai/protocol/canonical-json";
import * as z from "zod";
import { decodeSignature, type Verifier } from "../ledger/ledger-signature.ts";
import type { Limit } from "./limits.ts";
import { capabilities, parsePolicy, policyProblem, policySchema } from "./policy-schema.ts";

/** A policy before it is signed: it says until when it is valid, and which version it is. */
const signableSchema = policySchema.required({ issued: true, expires: true, serial: true });

/** What was signed before policies were; read for one more release. */
const capabilitiesSchema = z.strictObject({
  type: z.literal("gennai-capabilities"),
  version: z.literal(1),
  name: z.string().min(1).max(200),
  capabilities: z.array(z.enum(capabilities)).max(capabilities.length),
  issued: z.iso.datetime({ offset: true }),
  expires: z.iso.datetime({ offset: true }),
});

const signatureSchema = z.looseObject({
  /** First 16 hex digits of the SHA-256 of the public key's SPKI. */
  key_id: z.string().regex(/^[0-9a-f]{16}$/),
  signature: z.string().max(200),
});

/** Throws `Error` with the field and what to do. */
export function parseSignable(value: unknown): Readonly<Record<string, unknown>> {
  return parsed(signableSchema, value);
}

/** The signed bytes: RFC 8785 canonical JSON of the document with its key id and without the signature, as UTF-8. */
export function policyMessage(document: Readonly<Record<string, unknown>>, keyId: string): Uint8Array {
  return new TextEncoder().encode(canonicalJson({ ...document, key_id: keyId }));
}

/**
 * Checks a signed document whole: its shape, its signature by a key the verifier knows, and that it does not end before it was issued. Throws
 * `Error` whose message says what is wrong and what to do; anyone who catches it falls back to least privilege.
 */
export async function verifySignedPolicy(
  value: unknown,
  verifier: Verifier,
  of: Pick<Limit, "holder" | "file">,
): Promise<Limit> {
  const { key_id: keyId, signature: encoded, ...document } = parsed(signatureSchema, value);
  if (!verifier.knows(keyId)) {
    throw new Error(`it is signed by the key ${keyId}, which is not trusted here; ask for its public key`);
  }
  const signature = decodeSignature(encoded);
  if (signature === undefined || !(await verifier.verify(keyId, policyMessage(document, keyId), signature))) {
    throw new Error("its signature does not fit its text: it was changed after it was signed; get a new one");
  }
  const limit = parsePolicy(asPolicy(document), { ...of, lineOf: () => undefined });
  if ((limit.expires ?? 0) <= (limit.issued ?? 0)) throw new Error("it expires before it was issued; get a new one");
  return limit;
}

/** Whether it is of the form that is read for one more release. */
function isCapabilityProfile(value: unknown): boolean {
  return typeof value === "object" && value !== null && "type" in value && value.type === "gennai-capabilities";
}

function asPolicy(document: Readonly<Record<string, unknown>>): unknown {
  if (!isCapabilityProfile(document)) return parsed(signableSchema, document);
  const { name, capabilities: permits, issued, expires } = parsed(capabilitiesSchema, document);
  return { gennai_policy: 1, name, capabilities: permits, issued, expires };
}

function parsed<Value>(schema: z.ZodType<Value>, value: unknown): Value {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new Error(policyProblem(result.error).message);
}
