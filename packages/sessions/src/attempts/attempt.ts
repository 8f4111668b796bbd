import {
  attemptCheckWords,
  attemptOutcomeWords,
  attemptPhaseWords,
} from "@gennai/protocol/model/session/attempt-words";
import * as z from "zod";

const stateSchema = z.strictObject({
  kind: z.enum(["file", "executable", "link"]),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

export const attemptSchema = z.strictObject({
  /** From 1. */
  number: z.number(),
  /** Current phase. */
  phase: z.enum(attemptPhaseWords.words).default("ended"),
  /** Id of the session that makes the attempt; empty before it exists. */
  sessionId: z.string(),
  /** How its turn ended; `failed`: there was no turn. Meaningless before the attempt has ended. */
  outcome: z.enum(attemptOutcomeWords.words),
  /** Result of the check; `not_run` if the turn was not completed or changed nothing. */
  check: z.enum(attemptCheckWords.words),
  /** The end of what the check printed. */
  checkOutput: z.string(),
  /** The model's last words, or why it failed. */
  text: z.string(),
  addedLines: z.number(),
  removedLines: z.number(),
  tokens: z.number(),
  /** Cost of its tokens, in the currency of the prices; absent if no price is known. */
  cost: z.strictObject({ amount: z.number(), currency: z.string() }).optional(),
  changes: z.array(z.strictObject({ path: z.string(), before: stateSchema.optional(), after: stateSchema.optional() })),
});

/** One attempt at a prompt, and its changes to files that git tracks or would track. */
export type Attempt = Readonly<z.infer<typeof attemptSchema>>;
export type AttemptChange = Attempt["changes"][number];

export const attemptsSchema = z.strictObject({
  version: z.literal(1),
  id: z.string(),
  /** Real path of the workspace. */
  workspace: z.string(),
  /** The user they belong to; empty on a server with one user. */
  user: z.string().default(""),
  /** Id of the session in which they were requested. */
  session: z.string().default(""),
  /** The client's id for the request: repeating it gives the same attempts. */
  clientId: z.string().default(""),
  prompt: z.string(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** The command that decides which attempt is best. */
  check: z.string(),
  /** Best first when all have ended; before that, in their original order. */
  attempts: z.array(attemptSchema),
});

/** A prompt that is tried several times. */
export type Attempts = Readonly<z.infer<typeof attemptsSchema>>;

export const maxAttempts = 8;

/** An attempt that has not started. */
export function waitingAttempt(number: number): Attempt {
  return {
    number,
    phase: "waiting",
    sessionId: "",
    outcome: "failed",
    check: "not_run",
    checkOutput: "",
    text: "",
    addedLines: 0,
    removedLines: 0,
    tokens: 0,
    changes: [],
  };
}

export function haveEnded({ attempts }: Attempts): boolean {
  return attempts.every(({ phase }) => phase === "ended");
}
