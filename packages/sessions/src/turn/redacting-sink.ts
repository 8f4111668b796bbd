import type { SessionEvent } from "@gennai/agent/events/session-event";
import type { TurnSink } from "@gennai/agent/loop/turn-sink";
import type { LiveRedactionStream, LiveRedactor } from "@gennai/governance/redaction";
import { ArgumentsRedaction, redactArguments } from "@gennai/machine/redaction/arguments-redaction";
import type { Session } from "../session/session.ts";

type TextDelta = Extract<SessionEvent, { readonly type: "text-delta" | "thinking-delta" }>;
type Call = Extract<SessionEvent, { readonly type: "tool-call" }>;
type Waiting = { readonly event: SessionEvent; readonly itemId: string | undefined };

/** A sink that masks the model's text before passing it to `inner`. Events keep their order. */
export function createRedactingSink(inner: TurnSink, redactor: LiveRedactor): TurnSink {
  return new RedactingSink(inner, redactor);
}

class RedactingSink implements TurnSink {
  readonly #inner: TurnSink;
  readonly #redactor: LiveRedactor;
  /** By item. A text's stream lasts for the turn: masking of later parts depends on earlier ones, also across other items. */
  readonly #texts = new Map<string, LiveRedactionStream>();
  /** By item, until its call is complete. */
  readonly #arguments = new Map<string, ArgumentsRedaction>();
  /** The last written text item; only this one may hold something back. */
  #current:
    | { readonly type: TextDelta["type"]; readonly itemId: string; readonly stream: LiveRedactionStream }
    | undefined;
  readonly #queue: Waiting[] = [];
  #working: Promise<void> | undefined;
  #failure: Error | undefined;

  constructor(inner: TurnSink, redactor: LiveRedactor) {
    this.#inner = inner;
    this.#redactor = redactor;
  }

  emit(event: SessionEvent, itemId?: string): void {
    if (this.#failure !== undefined || (this.#working === undefined && this.#emitNow(event, itemId))) return;
    const last = this.#queue[this.#queue.length - 1];
    if (last !== undefined && isText(event) && last.event.type === event.type && last.itemId === itemId) {
      this.#queue[this.#queue.length - 1] = { event: { ...event, text: last.event.text + event.text }, itemId };
    } else {
      this.#queue.push({ event, itemId });
    }
    this.#working ??= this.#work();
  }

  async settle(): Promise<void> {
    while (this.#working !== undefined) await this.#working;
    if (this.#current?.stream.holding === true) {
      this.#working = this.#step(() => this.#flushText());
      await this.#working;
    }
    if (this.#failure !== undefined) throw this.#failure;
    await this.#inner.settle();
  }

  async flush(): Promise<void> {
    await this.settle();
    await this.#inner.flush();
  }

  /** The fast path for nearly all events: nothing is queued, and the event needs no further check. */
  #emitNow(event: SessionEvent, itemId: string | undefined): boolean {
    if (isText(event)) {
      const current = this.#current;
      if (current?.itemId !== itemId || current?.type !== event.type) {
        if (current?.stream.holding === true) return false;
        this.#setCurrent(event.type, itemId ?? "");
      }
      const text = this.#current?.stream.pushNow(event.text);
      if (text === undefined) return false;
      if (text !== "") this.#inner.emit(text === event.text ? event : { ...event, text }, itemId);
      return true;
    }
    if (this.#current?.stream.holding === true || needsMasking.has(event.type)) return false;
    this.#inner.emit(event, itemId);
    return true;
  }

  #work(): Promise<void> {
    return this.#step(async () => {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
        await this.#handle(next.event, next.itemId);
      }
    });
  }

  /** Never rejects: `settle` reports the error, and nothing more is written. */
  async #step(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#failure ??= error instanceof Error ? error : new Error(String(error));
      this.#queue.length = 0;
    } finally {
      // An event may have been queued since the last check.
      this.#working = this.#queue.length > 0 ? this.#work() : undefined;
    }
  }

  async #handle(event: SessionEvent, itemId: string | undefined): Promise<void> {
    if (this.#failure !== undefined) return;
    if (isText(event)) {
      if (this.#current?.itemId !== itemId || this.#current?.type !== event.type) await this.#flushText();
      const { stream } = this.#setCurrent(event.type, itemId ?? "");
      const text = stream.pushNow(event.text) ?? (await stream.push(event.text));
      if (text !== "") this.#inner.emit({ ...event, text }, itemId);
      return;
    }
    await this.#flushText();
    switch (event.type) {
      case "tool-call-delta": {
        const text = await this.#argumentsOf(itemId ?? event.id).push(event.text);
        if (text !== "") this.#inner.emit({ ...event, text }, itemId);
        break;
      }
      case "tool-call":
        await this.#call(event, itemId);
        break;
      case "final": {
        const [text, thinking] = await Promise.all([
          this.#redactor.redact(event.text),
          this.#redactor.redact(event.thinking),
        ]);
        this.#inner.emit({ ...event, text, thinking }, itemId);
        break;
      }
      case "compacted":
        this.#inner.emit({ ...event, summary: await this.#redactor.redact(event.summary) }, itemId);
        break;
      default:
        this.#inner.emit(event, itemId);
    }
  }

  async #call(event: Call, itemId: string | undefined): Promise<void> {
    const item = itemId ?? event.id;
    const pieces = this.#arguments.get(item);
    this.#arguments.delete(item);
    if (pieces !== undefined) {
      const text = await pieces.end();
      // Deltas have the model's id; the call may have got another one to be unique.
      if (text !== "") this.#inner.emit({ type: "tool-call-delta", id: item, text }, itemId);
    }
    const argumentsJson = await (pieces?.whole(event.argumentsJson) ??
      redactArguments(event.argumentsJson, this.#redactor));
    this.#inner.emit({ ...(await this.#withoutSecretThinking(event)), argumentsJson }, itemId);
  }

  /** Signed thinking and opaque data cannot be masked, only dropped. */
  async #withoutSecretThinking(event: Call): Promise<Call> {
    const { thinking = "", opaque = "" } = event.providerState ?? {};
    const kept = [thinking, ...textsIn(opaque)].filter((text) => text !== "").join("\n");
    if (kept === "" || (await this.#redactor.redact(kept)) === kept) return event;
    const { providerState: _, ...rest } = event;
    return rest;
  }

  async #flushText(): Promise<void> {
    const current = this.#current;
    if (current?.stream.holding !== true) return;
    const text = await current.stream.flush();
    if (text !== "") this.#inner.emit({ type: current.type, text }, current.itemId);
  }

  #setCurrent(type: TextDelta["type"], itemId: string) {
    if (this.#current?.type === type && this.#current.itemId === itemId) return this.#current;
    let stream = this.#texts.get(itemId);
    if (stream === undefined) {
      stream = this.#redactor.live();
      this.#texts.set(itemId, stream);
    }
    this.#current = { type, itemId, stream };
    return this.#current;
  }

  #argumentsOf(item: string): ArgumentsRedaction {
    const known = this.#arguments.get(item);
    if (known !== undefined) return known;
    const made = new ArgumentsRedaction(this.#redactor);
    this.#arguments.set(item, made);
    return made;
  }
}

const needsMasking: ReadonlySet<SessionEvent["type"]> = new Set(["tool-call-delta", "tool-call", "final", "compacted"]);

function isText(event: SessionEvent): event is TextDelta {
  return event.type === "text-delta" || event.type === "thinking-delta";
}

/** The string values in a JSON text, without property names: a name alone is no secret. */
function textsIn(json: string): readonly string[] {
  if (json === "") return [];
  const texts: string[] = [];
  JSON.parse(json, (_key, value: unknown) => {
    if (typeof value === "string") texts.push(value);
    return value;
  });
  return texts;
}

/** The masked sink for a turn of the session's own conversation. */
export function sessionSink(session: Session, turnId: string): TurnSink {
  return createRedactingSink(
    {
      emit: (event, itemId) => {
        session.writer.emit(event, { turnId, ...(itemId === undefined ? {} : { itemId }) });
      },
      settle: () => Promise.resolve(),
      flush: async () => {
        await session.writer.flush();
        await session.outputs.fill(session.state.conversation);
        session.outputs.forget();
      },
    },
    session.services.redactor,
  );
}
