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
  /** How far it has come. */
  phase: z.enum(attemptPhaseWords.words).default("ended"),
  /** Of the session that makes it; empty before it has one. */
  sessionId: z.string(),
  /** How its turn ended; `failed`: it did not come to a turn. It says nothing before the attempt has ended. */
  outcome: z.enum(attemptOutcomeWords.words),
  /** Of the check; `not_run` where the turn was not done, or changed nothing. */
  check: z.enum(attemptCheckWords.words),
  /** The end of what the check printed. */
  checkOutput: z.string(),
  /** The model's last words, or why it failed. */
  text: z.string(),
  addedLines: z.number(),
  removedLines: z.number(),
  tokens: z.number(),
  /** What its tokens cost, in the currency of the prices; left out where no price is known. */
  cost: z.strictObject({ amount: z.number(), currency: z.string() }).optional(),
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
  /** Whose they are; empty on a server with one user. */
  user: z.string().default(""),
  /** Of the session in which they were asked for. */
  session: z.string().default(""),
  /** Of the one who asked: the same id asks for the same attempts. */
  clientId: z.string().default(""),
  prompt: z.string(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** The command that decided. */
  check: z.string(),
  /** Best first, once all have ended; in their order before. */
  attempts: z.array(attemptSchema),
});

/** A prompt that is tried several times. */
export type Attempts = Readonly<z.infer<typeof attemptsSchema>>;

export const maxAttempts = 8;

/** One that has not begun. */
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
