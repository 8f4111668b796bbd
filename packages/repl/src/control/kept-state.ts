import type { CallOptions } from "@gennai/client/connection/connection";
import { type ReplPanel, replPanels } from "@gennai/client/host/host-messages";
import { effect } from "@preact/signals";
import type { ReplHost } from "../hosts/repl-host.ts";
import type { KeptPrompt } from "./prompt-queue.ts";

/** What the app restores after a reload. */
export interface KeptState {
  /** undefined: none was shown; null: the user wants a new session. */
  readonly sessionId: string | null | undefined;
  readonly draft: string;
  readonly queue: readonly KeptPrompt[];
  readonly panel: ReplPanel;
  /** undefined: as the host's settings have it. */
  readonly showThinking: boolean | undefined;
  /** True to show all of a conversation's rows. */
  readonly details: boolean;
  readonly scenario: string | undefined;
  /** Decisions about proposals, newest first (`KeptReviews`). */
  readonly reviews: readonly unknown[];
}

const nothingKept: KeptState = {
  sessionId: undefined,
  draft: "",
  queue: [],
  panel: "chat",
  showThinking: undefined,
  details: false,
  scenario: undefined,
  reviews: [],
};

/** Most characters of a draft, and of the whole queue, that are kept. */
const keptCharacters = 12_000;
/** Most bytes of JSON that a host keeps, with a reserve. */
const keptBytes = 63 * 1024;

/** Reads what a host kept; leaves out what does not fit. */
export function keptStateFrom(value: unknown): KeptState {
  if (typeof value !== "object" || value === null) return nothingKept;
  const field = (name: keyof KeptState): unknown => Reflect.get(value, name);
  const { sessionId, draft, queue, panel, showThinking, details, scenario, reviews } = {
    sessionId: field("sessionId"),
    draft: field("draft"),
    queue: field("queue"),
    panel: field("panel"),
    showThinking: field("showThinking"),
    details: field("details"),
    scenario: field("scenario"),
    reviews: field("reviews"),
  };
  return {
    sessionId: typeof sessionId === "string" || sessionId === null ? sessionId : undefined,
    draft: typeof draft === "string" ? draft : "",
    queue: Array.isArray(queue) ? queue.filter(isKeptPrompt) : [],
    panel: replPanels.find((name) => name === panel) ?? "chat",
    showThinking: typeof showThinking === "boolean" ? showThinking : undefined,
    details: details === true,
    scenario: typeof scenario === "string" ? scenario : undefined,
    reviews: Array.isArray(reviews) ? reviews : [],
  };
}

function isKeptPrompt(value: unknown): value is KeptPrompt {
  if (typeof value !== "object" || value === null) return false;
  const [id, text, ...optional] = ["id", "text", "sentTo", "scenario"].map((name): unknown => Reflect.get(value, name));
  const isNamed = typeof id === "string" && id !== "" && typeof text === "string";
  return isNamed && optional.every((each) => each === undefined || typeof each === "string");
}

/** Milliseconds without a change after which the state is kept. */
const keepDelay = 250;

/** Keeps the state whenever a signal in it changes, until the abort. */
export function keepStateIn(
  host: Pick<ReplHost, "saveState">,
  first: KeptState,
  options: CallOptions,
  state: () => KeptState,
): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = JSON.stringify(fitToKeep(first));
  const stop = effect(() => {
    // Signals are read at every key; it is saved only after a pause, because saving takes time.
    const read = state();
    clearTimeout(timer);
    timer = setTimeout(() => {
      const now = fitToKeep(read);
      const text = JSON.stringify(now);
      if (text !== last) host.saveState(now);
      last = text;
    }, keepDelay);
  });
  options.signal.addEventListener("abort", stop, { once: true });
}

/** The part of the state that is small enough to be kept. */
function fitToKeep(state: KeptState): KeptState {
  let left = keptCharacters;
  const queue = state.queue.filter((prompt) => {
    left -= JSON.stringify(prompt).length;
    return left >= 0;
  });
  const rest = { ...state, draft: state.draft.length > keptCharacters ? "" : state.draft, queue };
  let room = keptBytes - jsonBytes({ ...rest, reviews: [] });
  const reviews = state.reviews.filter((review) => {
    const bytes = jsonBytes(review) + 1;
    if (bytes > room) return false;
    room -= bytes;
    return true;
  });
  return { ...rest, reviews };
}

function jsonBytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}
