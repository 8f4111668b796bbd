import { setTimeout as delay } from "node:timers/promises";
import { ServiceError } from "@gennai/machine/service-error";
import type { BlobStore } from "@gennai/store/log/session-log";
import type { LogStreams } from "@gennai/store/nats/log-streams";
import { headers, type Msg } from "@nats-io/transport-node";
import * as z from "zod";
import type { MessageProofs } from "./message-proof.ts";
import type { ReplicaPresence } from "./presence.ts";

/** One message between replicas. */
export interface ReplicaMessage {
  /** Short facts. */
  readonly head: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export type InboxHandler = (message: ReplicaMessage) => Promise<ReplicaMessage>;

/** Milliseconds an answer may take: a turn that is cancelled must end first. */
const answerMs = 600_000;
/** Milliseconds between looks whether the other replica still runs. */
const lookMs = 2_000;
/** Messages that are answered at once; more are refused, and tried again by the one who sent them. */
const maxAnswering = 1_024;
const headField = "Gennai-Head";
const elsewhereField = "Gennai-Body";
const failedField = "Gennai-Failed";
const proofField = "Gennai-Proof";
const nothing = new Uint8Array();
const headSchema = z.record(z.string(), z.string());

/** Receives messages of other replicas and sends messages to them: requests over NATS, each answered once. */
export class ReplicaInbox implements AsyncDisposable {
  readonly #streams: LogStreams;
  readonly #presence: ReplicaPresence;
  readonly #blobs: BlobStore;
  readonly #proofs: MessageProofs;
  readonly #handlers = new Map<string, InboxHandler>();
  readonly #onError: (error: unknown) => void;
  #answering = 0;
  readonly #subscription: { drain(): Promise<void> };

  constructor(options: {
    readonly streams: LogStreams;
    readonly presence: ReplicaPresence;
    /** For bodies too large for a message. */
    readonly blobs: BlobStore;
    /** Tells messages of replicas from others. */
    readonly proofs: MessageProofs;
    readonly onError: (error: unknown) => void;
  }) {
    this.#streams = options.streams;
    this.#presence = options.presence;
    this.#blobs = options.blobs;
    this.#proofs = options.proofs;
    this.#onError = options.onError;
    this.#subscription = options.streams.connection.subscribe(this.#subject(options.presence.replicaId), {
      callback: (error, message) => {
        if (error === null) this.#answer(message).catch(this.#onError);
      },
    });
  }

  handle(kind: string, handler: InboxHandler): void {
    this.#handlers.set(kind, handler);
  }

  /** Rejects with `ServiceError` `unavailable` if that replica is gone, ends before it answers, or takes longer than `withinMs`. */
  async send(
    replicaId: string,
    kind: string,
    message: ReplicaMessage,
    { withinMs = answerMs }: { readonly withinMs?: number | undefined } = {},
  ): Promise<ReplicaMessage> {
    const { connection } = this.#streams;
    const to = this.#subject(replicaId);
    const { payload, fields, number } = await this.#packed({ head: { ...message.head, kind }, body: message.body }, to);
    const answering = new AbortController();
    try {
      const answer = await Promise.race([
        connection.request(to, payload, { timeout: withinMs, headers: fields, noMux: true }),
        this.#untilGone(replicaId, answering.signal),
      ]);
      if (answer === undefined) throw new Error("The replica is gone.");
      return (await this.#unpacked(answer, answerTo(number))).message;
    } catch (cause) {
      if (cause instanceof ServiceError) throw cause;
      throw new ServiceError("unavailable", "The server that owns the session cannot be reached.", {
        hint: "Try again: it comes back, or another one takes over.",
        cause,
      });
    } finally {
      answering.abort();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#subscription.drain().catch(() => undefined);
  }

  async #answer(message: Msg): Promise<void> {
    this.#answering += 1;
    try {
      await this.#answerOne(message);
    } finally {
      this.#answering -= 1;
    }
  }

  async #answerOne(message: Msg): Promise<void> {
    const { message: incoming, number } = await this.#unpacked(message, message.subject);
    const handler = this.#handlers.get(incoming.head["kind"] ?? "");
    let answer: ReplicaMessage;
    try {
      if (this.#answering > maxAnswering) throw new TypeError("This replica has too many messages to answer.");
      if (handler === undefined) throw new TypeError("This replica knows no such message.");
      answer = await handler(incoming);
    } catch (error) {
      this.#onError(error);
      const { payload, fields } = await this.#packed({ head: { [failedField]: "1" }, body: nothing }, answerTo(number));
      message.respond(payload, { headers: fields });
      return;
    }
    const { payload, fields } = await this.#packed(answer, answerTo(number));
    message.respond(payload, { headers: fields });
  }

  async #untilGone(replicaId: string, signal: AbortSignal): Promise<undefined> {
    while (!signal.aborted) {
      await delay(lookMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted && !(await this.#presence.isAlive(replicaId).catch(() => true))) return undefined;
    }
    return undefined;
  }

  async #packed({ head, body }: ReplicaMessage, to: string) {
    const fields = headers();
    // Header fields hold no line breaks and no other alphabets.
    const text = encodeURIComponent(JSON.stringify(head));
    const { proof, number } = this.#proofs.prove({ to, head: text, body });
    fields.set(headField, text);
    fields.set(proofField, proof);
    const limit = (this.#streams.connection.info?.max_payload ?? 1_048_576) - 64 * 1024;
    if (body.length <= limit) return { payload: body, fields, number };
    const { sha256 } = await this.#blobs.put(body, "application/octet-stream");
    fields.set(elsewhereField, sha256);
    return { payload: nothing, fields, number };
  }

  async #unpacked(
    message: Msg,
    to: string,
  ): Promise<{ readonly message: ReplicaMessage /** Token of the proof. */; readonly number: string }> {
    const text = message.headers?.get(headField) ?? "";
    const elsewhere = message.headers?.get(elsewhereField) ?? "";
    const body = elsewhere === "" ? message.data : await this.#blobs.get(elsewhere);
    if (body === undefined) throw new TypeError("A message's body is gone.");
    const number = this.#proofs.check({ to, head: text, body }, message.headers?.get(proofField) ?? "");
    if (number === undefined) throw new TypeError("A message was not one of this log's replicas.");
    const head = headSchema.parse(JSON.parse(decodeURIComponent(text)));
    if (head[failedField] === "1") {
      throw new ServiceError("unavailable", "The server that owns the session failed; its log says why.");
    }
    return { message: { head, body }, number };
  }

  #subject(replicaId: string): string {
    return `${this.#streams.namespace}.inbox.${replicaId}`;
  }
}

/** An answer belongs to one question. */
function answerTo(number: string): string {
  return `answer to ${number}`;
}
