import type { SessionEvent } from "@gennai/agent/events/session-event";
import type { LedgerEntry } from "@gennai/governance/ledger/ledger-entry";
import * as z from "zod";

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;
/** Only `append` writes these, so their type is what makes them one. */
const event = z.custom<SessionEvent>((value) => isObject(value) && "type" in Object(value));
const entry = z.custom<LedgerEntry>((value) => isObject(value) && "kind" in Object(value));

const messageSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("create"),
    workspaceRoot: z.string(),
    time: z.number(),
    owner: z.string(),
    /** Whose session it is, where the log has several users. */
    user: z.string().optional(),
    /** Base64: the earlier content of the ledger's file, if the workspace is new. */
    preamble: z.string(),
  }),
  z.object({ kind: z.literal("take-over"), epoch: z.int(), owner: z.string() }),
  z.object({ kind: z.literal("title"), title: z.string() }),
  /** The session's last message: the session is forgotten, with its data in all copies. */
  z.object({
    kind: z.literal("forget"),
    by: z.string(),
    time: z.number(),
    salt: z.string(),
    toolVersion: z.string(),
  }),
  z.object({
    kind: z.literal("batch"),
    /** Seq of the event before the first one. */
    seq: z.int(),
    epoch: z.int(),
    events: z.array(z.object({ turnId: z.string(), itemId: z.string(), time: z.number(), event })),
    ledger: z.array(z.object({ entry, salt: z.string() })),
    spentTokens: z.array(z.string()),
    toolVersion: z.string(),
  }),
  /** Too large for a message: the content lies in the object store under its digest. */
  z.object({ kind: z.literal("elsewhere"), sha256: z.string() }),
]);

/** What a message of a session's log says. */
export type SessionMessage = z.infer<typeof messageSchema>;

export function encodeMessage(message: SessionMessage): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(message));
}

/** Throws if the payload is no message. */
export function decodeMessage(payload: Uint8Array): SessionMessage {
  return messageSchema.parse(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(payload)));
}

/** Subject of a session's message; the numbers count its messages from 0. */
export function sessionSubject(namespace: string, sessionId: string, number: number): string {
  return `${namespace}.sess.${sessionId}.${number}`;
}

/** Matches the subjects of a session's messages. */
export function sessionSubjects(namespace: string, sessionId: string): string {
  return `${namespace}.sess.${sessionId}.*`;
}

/** Session and number in a subject; undefined if it is not a session's. */
export function parseSessionSubject(
  subject: string,
): { readonly sessionId: string; readonly number: number } | undefined {
  const match = /^[^.]+\.sess\.([^.]+)\.(\d+)$/.exec(subject);
  return match?.[1] === undefined ? undefined : { sessionId: match[1], number: Number(match[2]) };
}

/** The message that spends an approval token. */
export function tokenSubject(namespace: string, sha256: string): string {
  return `${namespace}.token.${sha256}`;
}

export function parseTokenSubject(subject: string): string | undefined {
  return /^[^.]+\.token\.([^.]+)$/.exec(subject)?.[1];
}

const lockSchema = z.object({
  /** The replica that holds it; empty if none does. */
  replica: z.string(),
  what: z.string(),
});

/** A message about a lock; the one with the highest number counts. */
export type LockMessage = z.infer<typeof lockSchema>;

/** `name` is a digest; the numbers count the messages about it from 1. */
export function lockSubject(namespace: string, name: string, number: number): string {
  return `${namespace}.ctl.lock.${name}.${number}`;
}

export function parseLockSubject(subject: string): { readonly name: string; readonly number: number } | undefined {
  const match = /^[^.]+\.ctl\.lock\.([^.]+)\.(\d+)$/.exec(subject);
  return match?.[1] === undefined ? undefined : { name: match[1], number: Number(match[2]) };
}

export function encodeLock(lock: LockMessage): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(lock));
}

export function decodeLock(payload: Uint8Array): LockMessage {
  return lockSchema.parse(JSON.parse(new TextDecoder().decode(payload)));
}

/** Nothing but this may become part of a subject. */
export function isSubjectToken(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(text);
}
