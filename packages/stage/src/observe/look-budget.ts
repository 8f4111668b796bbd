import { NotObservable } from "../transaction/stage-error.ts";

/** Limits of one look. A command can make a huge sparse file at no cost, but looking at it means reading all its bytes. */
export interface LookLimits {
  /** Total size of the files that the command left. */
  readonly bytes: number;
  readonly entries: number;
}

/** The bytes are the default limit of what a command may write to disks. */
export const lookLimits: LookLimits = { bytes: 32 * 1024 ** 3, entries: 500_000 };

/** What remains of the limits. */
export class LookBudget {
  readonly #limits: LookLimits;
  #bytes = 0;
  #entries = 0;

  constructor(limits: LookLimits) {
    this.#limits = limits;
  }

  /** Counts one more entry. Throws `NotObservable`. @param bytes that are to be read of it */
  spend(bytes = 0n): void {
    this.#entries += 1;
    this.#bytes += Number(bytes);
    const { bytes: most, entries } = this.#limits;
    if (this.#entries > entries) throw new NotObservable(`It changed more than ${entries} files and directories.`);
    if (this.#bytes > most) throw new NotObservable(`It left files of more than ${Math.round(most / 1024 ** 3)} GiB.`);
  }
}
