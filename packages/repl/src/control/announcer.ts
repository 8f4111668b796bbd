import { turnOutcome } from "@gennai/client/session/turn-state";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { type ReadonlySignal, signal } from "@preact/signals";

/** Milliseconds over which sentences are gathered, so that a screen reader is not interrupted by each. */
const gatherMilliseconds = 1200;
/** Older events are a replay, and not announced. Milliseconds. */
const newsMilliseconds = 15_000;
const longest = 600;

/** Turns a session's events into sentences for screen readers, a few at a time. */
export class Announcer {
  readonly #sentence = signal("");
  readonly sentence: ReadonlySignal<string> = this.#sentence;
  #gathered: string[] = [];

  tell(events: readonly InvokeEvent[]): void {
    for (const event of events) {
      const sentence = isNews(event) ? sentenceFor(event) : undefined;
      if (sentence !== undefined) this.say(sentence);
    }
  }

  say(sentence: string): void {
    if (this.#gathered.push(sentence) > 1) return;
    setTimeout(() => {
      this.#sentence.value = this.#gathered.slice(-6).join(" ").slice(-longest);
      this.#gathered = [];
    }, gatherMilliseconds);
  }
}

/** undefined for events that are better not announced. Questions are announced by their card. */
function sentenceFor(event: InvokeEvent): string | undefined {
  const { event: body } = event;
  switch (body.case) {
    case "final":
      return body.value.text === "" ? undefined : `Gennai: ${body.value.text.slice(0, longest)}`;
    case "status":
      return endings[turnOutcome(event) ?? "none"];
    case "toolResult":
      return body.value.error === "" ? undefined : `A tool call failed: ${body.value.error}`;
    case "gateDecision":
      return undefined;
    case "proposedChanges":
      return `Changes to ${body.value.changes.length} ${body.value.changes.length === 1 ? "file" : "files"} are proposed.`;
    case "warning":
      return `Warning: ${body.value}`;
    case "error":
      return `Error: ${body.value}`;
    default:
      return undefined;
  }
}

const endings: Record<string, string | undefined> = {
  completed: "Done.",
  error: "The turn failed.",
  cancelled: "The turn was stopped.",
  interrupted: "The turn was interrupted.",
};

function isNews({ time }: InvokeEvent): boolean {
  return time === undefined || Date.now() - Number(time.seconds) * 1000 < newsMilliseconds;
}
