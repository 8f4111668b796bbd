import { NotObservable } from "../transaction/stage-error.ts";

/** What one look takes on. A sparse file costs a command nothing to make, and a look all its bytes. */
export interface LookLimits {
  /** Of files that the command left, as long as they say they are. */
  readonly bytes: number;
  readonly entries: number;
}

/** As many bytes as a command may write to disks, by default. */
export const lookLimits: LookLimits = { bytes: 32 * 1024 ** 3, entries: 500_000 };

/** What is left of it. */
export class LookBudget {
  readonly #limits: LookLimits;
  #bytes = 0;
  #entries = 0;

  constructor(limits: LookLimits) {
    this.#limits = limits;
  }

  /** For one more entry. Throws `NotObservable`. @param bytes that are to be read of it */
  spend(bytes = 0n): void {
    this.#entries += 1;
    this.#bytes += Number(bytes);
    const { bytes: most, entries } = this.#limits;
    if (this.#entries > entries) throw new NotObservable(`It changed more than ${entries} files and directories.`);
    if (this.#bytes > most) throw new NotObservable(`It left files of more than ${Math.round(most / 1024 ** 3)} GiB.`);
  }
}
