import * as z from "zod";

const stateSchema = z.strictObject({
  kind: z.enum(["file", "executable", "link"]),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

export const attemptSchema = z.strictObject({
  /** From 1. */
  number: z.number(),
  /** Of the session that made it. */
  sessionId: z.string(),
  /** How its turn ended; `failed`: it did not come to a turn. */
  outcome: z.enum(["completed", "cancelled", "error", "interrupted", "failed"]),
  /** Of the check; `not_run` where the turn was not done, or changed nothing. */
  check: z.enum(["passed", "failed", "not_run"]),
  /** The end of what the check printed. */
  checkOutput: z.string(),
  /** The model's last words, or why it failed. */
  text: z.string(),
  addedLines: z.number(),
  removedLines: z.number(),
  tokens: z.number(),
  changes: z.array(z.strictObject({ path: z.string(), before: stateSchema.optional(), after: stateSchema.optional() })),
});

/** One try of a prompt, and what it changed of the files that git tracks or would track. */
export type Attempt = Readonly<z.infer<typeof attemptSchema>>;
export type AttemptChange = Attempt["changes"][number];

export const attemptsSchema = z.strictObject({
  version: z.literal(1),
  id: z.string(),
  /** Real path. */
  workspace: z.string(),
  prompt: z.string(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** The command that decided. */
  check: z.string(),
  /** Best first. */
  attempts: z.array(attemptSchema),
});

/** A prompt that was tried several times. */
export type Attempts = Readonly<z.infer<typeof attemptsSchema>>;
