import { emptyMeter, type UsageMeter } from "../session/usage-meter.ts";

/** Counts and facts of a turn until it ends. */
export interface TurnRecord {
  readonly began: Date | undefined;
  iteration: number;
  /** True if the newest model call has written text. */
  answered: boolean;
  usage: UsageMeter;
  /** Files that commands changed. */
  readonly changedByCommands: Set<string>;
}

/** The turns that have not ended. */
export class TurnRecords {
  readonly #records = new Map<string, TurnRecord>();

  has(turnId: string): boolean {
    return this.#records.has(turnId);
  }

  /** @param time when it began, if it is not known yet */
  of(turnId: string, time?: Date): TurnRecord {
    const known = this.#records.get(turnId);
    if (known !== undefined) return known;
    const turn = {
      began: time,
      iteration: 0,
      answered: false,
      usage: emptyMeter,
      changedByCommands: new Set<string>(),
    };
    this.#records.set(turnId, turn);
    return turn;
  }

  end(turnId: string): void {
    this.#records.delete(turnId);
  }
}
