import { canonicalJson } from "@gennai/protocol/canonical-json";
import * as z from "zod";
import { decodeSignature, type Verifier } from "../ledger/ledger-signature.ts";

/** What a profile may permit. `execute` covers commands that are not proven to read. */
export const capabilities = ["read", "propose", "write", "execute", "network", "high_impact"] as const;

export type Capability = (typeof capabilities)[number];

/** What this user, team or licence may do, and until when. */
export interface CapabilityProfile {
  readonly name: string;
  readonly capabilities: readonly Capability[];
  /** Milliseconds since the epoch; undefined: from ever. */
  readonly issued: number | undefined;
  /** Milliseconds since the epoch; undefined: for ever. */
  readonly expires: number | undefined;
}

/** A profile and why it is, or is not, in force. With a problem only reading is permitted. */
export interface CapabilityProfileState {
  readonly profile: CapabilityProfile;
  readonly problem?: string;
}

/** Without a profile of one's own: everything, asked and confirmed as the other rules want it. */
export const defaultProfile: CapabilityProfile = {
  name: "default",
  capabilities,
  issued: undefined,
  expires: undefined,
};

/** The profile in force if the configured one is invalid. */
export function leastPrivilege(problem: string, name = "read-only"): CapabilityProfileState {
  return { profile: { name, capabilities: ["read"], issued: undefined, expires: undefined }, problem };
}

/** A profile before it is signed; `docs/reference/settings.md` is generated from it. */
export const capabilityDocumentSchema = z.strictObject({
  type: z.literal("gennai-capabilities"),
  version: z.literal(1),
  name: z.string().min(1).max(200).describe("For people."),
  capabilities: z.array(z.enum(capabilities)).max(capabilities.length).describe("What it permits."),
  issued: z.iso.datetime({ offset: true }).describe("RFC 3339; before that time it permits reading only."),
  expires: z.iso.datetime({ offset: true }).describe("RFC 3339; after that time it permits reading only."),
});

const signedSchema = capabilityDocumentSchema.extend({
  /** First 16 hex digits of the SHA-256 of the public key's SPKI. */
  key_id: z.string().regex(/^[0-9a-f]{16}$/),
  signature: z.string().max(200),
});

/** A profile as a team writes it, before it is signed. */
export type CapabilityDocument = Readonly<z.infer<typeof capabilityDocumentSchema>>;

/** Throws `Error` with the field and what to do. */
export function parseCapabilityDocument(value: unknown): CapabilityDocument {
  return parsed(capabilityDocumentSchema, value);
}

/** The signed bytes: RFC 8785 canonical JSON of the document with its key id and without the signature, as UTF-8. */
export function capabilityMessage(document: CapabilityDocument, keyId: string): Uint8Array {
  return new TextEncoder().encode(canonicalJson({ ...document, key_id: keyId }));
}

/**
 * Checks a signed profile whole: its shape, its signature by a key the verifier knows, and that it is not used before it
 * was issued. Throws `Error` whose message says what is wrong and what to do; anyone who catches it falls back to least privilege.
 *
 */
export async function verifyCapabilityProfile(value: unknown, verifier: Verifier): Promise<CapabilityProfile> {
  const { key_id: keyId, signature: encoded, ...document } = parsed(signedSchema, value);
  if (!verifier.knows(keyId)) {
    throw new Error(`it is signed by the key ${keyId}, which is not trusted here; ask for its public key`);
  }
  const signature = decodeSignature(encoded);
  if (signature === undefined || !(await verifier.verify(keyId, capabilityMessage(document, keyId), signature))) {
    throw new Error("its signature does not fit its text: it was changed after it was signed; get a new one");
  }
  const issued = Date.parse(document.issued);
  const expires = Date.parse(document.expires);
  if (expires <= issued) throw new Error("it expires before it was issued; get a new one");
  return { name: document.name, capabilities: document.capabilities, issued, expires };
}

/**
 * A genuine profile at a given time: outside its validity, only reading is permitted. A clock before the date of issue was set
 * back or is not set, so it cannot tell whether the profile has expired.
 */
export function profileAt(profile: CapabilityProfile, now: number): CapabilityProfileState {
  const { issued, expires, name } = profile;
  if (issued !== undefined && now < issued - clockSkewMs) {
    return leastPrivilege(`this machine's clock is earlier than the issue of the profile ${name}; set the clock`, name);
  }
  if (expires !== undefined && now >= expires) {
    const day = new Date(expires).toISOString().slice(0, 10);
    return leastPrivilege(`the profile ${name} expired on ${day}; renew it`, name);
  }
  return { profile };
}

/** Normal difference between the clocks of two machines. */
const clockSkewMs = 5 * 60_000;

function parsed<Value>(schema: z.ZodType<Value>, value: unknown): Value {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue?.path.join(".") ?? "";
  throw new Error(
    `${field === "" ? "it" : `its field ${field}`} is not valid (${issue?.message ?? "unknown"}); get it anew`,
  );
}
