import type { Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
import type { ProposalText } from "../documents/proposal-diff.ts";

/** Changes whose texts are held. */
const most = 60;

/** Milliseconds after a text could not be had in which nothing that is drawn asks again. */
const pause = 3000;

interface TextEntry {
  text: ProposalText | undefined;
  readonly loading: Promise<void>;
  /** When it could not be had; milliseconds since 1970. */
  failed?: number;
}

/** The texts of proposed changes, each fetched and checked once, when it is first asked for. */
export class ProposalTexts {
  readonly #fetch: (change: ProposedChange) => Promise<ProposalText>;
  readonly #loaded: () => void;
  readonly #texts = new Map<string, TextEntry>();

  /** @param loaded called when there is a text that was asked for */
  constructor(fetch: (change: ProposedChange) => Promise<ProposalText>, loaded: () => void) {
    this.#fetch = fetch;
    this.#loaded = loaded;
  }

  /** undefined: not there yet, or it cannot be had. */
  of(proposal: Proposal, change: ProposedChange): ProposalText | undefined {
    return this.#entry(proposal, change).text;
  }

  /** Resolves when the text is there, or known not to be had. */
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
      // Why it cannot be had is said when its diff is opened.
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
