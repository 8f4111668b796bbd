import * as z from "zod";
import { headSchema } from "./ledger-signature.ts";

const eventSchema = z.strictObject({
  seq: z.number(),
  turn_id: z.string(),
  item_id: z.string(),
  time: z.string(),
  event: z.record(z.string(), z.unknown()),
});

export const bundleSchema = z.strictObject({
  format: z.literal("gennai-ledger-bundle"),
  version: z.literal(1),
  /** RFC 3339. */
  exported: z.string(),
  /** SHA-256 of the workspace's root path. */
  workspace: z.string(),
  /** SPKI PEM. */
  public_key: z.string(),
  head: headSchema.nullable(),
  /** The ledger, one signed record each. */
  records: z.array(z.record(z.string(), z.unknown())),
  /** Records that are here without their content, because a secret was found in it. */
  withheld: z.array(z.number()),
  sessions: z.array(
    z.strictObject({
      session_id: z.string(),
      title: z.string(),
      created: z.string(),
      updated: z.string(),
      events: z.array(eventSchema),
    }),
  ),
  /** Number of masks in it, including earlier ones. */
  redactions: z.strictObject({ marker: z.string(), count: z.number() }),
  key_id: z.string(),
  /** Ed25519, base64, over all of the above. */
  signature: z.string(),
});

/** The parts of it, as they come line by line. */
export const framedSchemas = {
  head: bundleSchema.pick({ exported: true, format: true, head: true, key_id: true, public_key: true }),
  record: bundleSchema.shape.records.element,
  redactions: bundleSchema.shape.redactions,
  created: bundleSchema.shape.sessions.element.pick({ created: true }),
  session: bundleSchema.shape.sessions.element.omit({ created: true, events: true }),
  event: eventSchema,
  tail: bundleSchema.pick({ version: true, withheld: true, workspace: true }),
};

export const newerSchema = z.object({ format: z.literal("gennai-ledger-bundle"), version: z.int().min(2) });

/** Everything a third party needs to check what was done, in one JSON file. */
export type LedgerBundle = z.infer<typeof bundleSchema>;
