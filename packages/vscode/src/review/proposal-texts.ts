import type { Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
import type { ProposalText } from "../documents/proposal-diff.ts";

/** Changes whose texts are kept. */
const most = 60;

/** Milliseconds after a failure during which drawing does not ask for the text again. */
const pause = 3000;

interface TextEntry {
  text: ProposalText | undefined;
  readonly loading: Promise<void>;
  /** When it failed to load; milliseconds since the epoch. */
  failed?: number;
}

/** The texts of proposed changes, each fetched and checked once, at its first use. */
export class ProposalTexts {
  readonly #fetch: (change: ProposedChange) => Promise<ProposalText>;
  readonly #loaded: () => void;
  readonly #texts = new Map<string, TextEntry>();

  /** @param loaded called when a requested text has arrived */
  constructor(fetch: (change: ProposedChange) => Promise<ProposalText>, loaded: () => void) {
    this.#fetch = fetch;
    this.#loaded = loaded;
  }

  /** undefined: not loaded yet, or it failed. */
  of(proposal: Proposal, change: ProposedChange): ProposalText | undefined {
    return this.#entry(proposal, change).text;
  }

  /** Resolves when the text is loaded, or has failed to load. */
  async loaded(proposal: Proposal, change: ProposedChange): Promise<void> {
    await this.#entry(proposal, change).loading;
  }

  #entry({ proposalId }: Proposal, change: ProposedChange) {
    const key = JSON.stringify([proposalId, change.id]);
    const known = this.#texts.get(key);
    if (known !== undefined && (known.failed === undefined || Date.now() - known.failed < pause)) return known;
    const loading = this.#fetch(change).then(
      (text) => {
        entry.text = text;
        this.#loaded();
      },
      // The reason is shown when the diff of the change is opened.
      () => {
        entry.failed = Date.now();
      },
    );
    const entry: TextEntry = { text: undefined, loading };
    this.#texts.delete(key);
    this.#texts.set(key, entry);
    for (const oldest of this.#texts.keys()) if (this.#texts.size > most) this.#texts.delete(oldest);
    return entry;
  }
}
