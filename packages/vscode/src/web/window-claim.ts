import type { ClaimState } from "../session/window-claim.ts";

/** Windows in a browser cannot find each other: each works for itself, and a server asks the one that connected last. */
export class WindowClaim implements AsyncDisposable {
  readonly #onChange: (state: ClaimState) => void;
  #state: ClaimState = { type: "held", pid: 0 };

  constructor(_path: string, onChange: (state: ClaimState) => void) {
    this.#onChange = onChange;
  }

  get state(): ClaimState {
    return this.#state;
  }

  async begin(): Promise<ClaimState> {
    if (this.#state.type !== "ours") {
      this.#state = { type: "ours" };
      this.#onChange(this.#state);
    }
    return this.#state;
  }

  async takeOver(): Promise<void> {
    await this.begin();
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
