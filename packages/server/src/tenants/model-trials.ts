import type { Model } from "@gennai/agent/model";
import { type ModelTrial, tryModel } from "@gennai/models/catalogue/try-model";
import type { ModelTrying } from "../rpc/methods/choose-model-rpcs.ts";

interface TrialPorts {
  /** Throws `ServiceError` while no turn may start. */
  readonly assertTurnsMayStart: () => void;
  /** Takes a seat like a turn, for the caller. Throws `ServiceError` `resource_exhausted`. */
  readonly takeSeat: () => Disposable;
  readonly onUnexpectedError: (error: unknown) => void;
}

/** Trials of models: calls outside of any turn, which what holds back turns holds back, and what stops turns ends. */
export class ModelTrials implements ModelTrying {
  readonly #ports: TrialPorts;
  readonly #running = new Set<AbortController>();

  constructor(ports: TrialPorts) {
    this.#ports = ports;
  }

  /** Rejects with `ServiceError` when none may run, or not for so long. */
  async run(load: () => Promise<Model>, signal: AbortSignal): Promise<ModelTrial> {
    const { assertTurnsMayStart, takeSeat, onUnexpectedError } = this.#ports;
    assertTurnsMayStart();
    using _seat = takeSeat();
    const stop = new AbortController();
    this.#running.add(stop);
    try {
      const trial = await tryModel(load, { signal: AbortSignal.any([signal, stop.signal]), onUnexpectedError });
      if (stop.signal.aborted) assertTurnsMayStart();
      return trial;
    } finally {
      this.#running.delete(stop);
    }
  }

  /** Ends those that run. */
  stop(): void {
    for (const running of this.#running) running.abort();
  }
}
