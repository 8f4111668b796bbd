import type { StandingCheck } from "@gennai/governance/gate/standing-check";
import { emergencyVerdict } from "@gennai/governance/limits/emergency-verdict";
import type { Redactor } from "@gennai/governance/redaction";
import { ServiceError } from "@gennai/machine/service-error";
import type { EmergencyState } from "@gennai/protocol/model/governance/emergency";
import type { EmergencyChange, EmergencyRequest } from "./emergency-change.ts";

/** Storage of the controls. */
export interface EmergencyRecord {
  current(): EmergencyState & { readonly problem?: string };
  /** Rejects or throws `ServiceError` `invalid_argument`, or `StoreError` if it cannot be saved. */
  change(asked: EmergencyRequest, workspaceRoots: Iterable<string>): EmergencyChange | Promise<EmergencyChange>;
  /** Adds a change to the ledgers that have no record of it yet. */
  record(change: EmergencyChange, workspaceRoots: Iterable<string>): void;
  onChange(listener: (changes: readonly EmergencyChange[]) => void): Disposable;
}

export interface EmergencyControlsOptions {
  readonly store: EmergencyRecord;
  readonly redactor: Redactor;
  /** Roots of the workspaces of this server: each change is recorded in their ledgers. */
  readonly workspaceRoots: () => Promise<readonly string[]>;
  /** Tells this server's sessions. */
  readonly announce: (change: EmergencyChange) => Promise<void>;
  /** Ends every running turn and resolves with their ids when all have ended. */
  readonly stopWork: (reason: string) => Promise<readonly string[]>;
  /** False if the server requires no token: then callers cannot be distinguished from the agent's own commands. */
  readonly authenticated: boolean;
  readonly onError: (error: unknown) => void;
}

/** Milliseconds after which a stop of all work takes effect without waiting to be saved. */
const keepingTimeoutMs = 2_000;

/** The emergency controls of one server: changes them, and applies changes by any process. */
export class EmergencyControls implements Disposable {
  readonly #options: EmergencyControlsOptions;
  readonly #subscription: Disposable;
  readonly #applying = new WeakMap<EmergencyChange, Promise<readonly string[]>>();

  constructor(options: EmergencyControlsOptions) {
    this.#options = options;
    this.#subscription = options.store.onChange((changes) => {
      for (const change of changes) this.#applying.set(change, this.#apply(change));
    });
  }

  current(): EmergencyState & { readonly problem?: string } {
    return this.#options.store.current();
  }

  /** Called right before every effect; a running call ends as soon as it would be refused. */
  get standingCheck(): StandingCheck {
    const { store } = this.#options;
    return {
      check: (input) => emergencyVerdict(store.current(), input),
      onChange: (listener) => store.onChange(listener),
    };
  }

  /** Throws `ServiceError` while all work is stopped. */
  assertTurnsMayStart(): void {
    if (!this.current().stopAll) return;
    throw new ServiceError("failed_precondition", "All work is stopped by an emergency control, so no turn starts.", {
      hint: "A person lifts it: gennai emergency stop-all off --reason …",
    });
  }

  /** Changes a control. Resolves when the change is saved, recorded and applied to running work. Rejects with `ServiceError`. */
  async set(
    request: EmergencyRequest,
  ): Promise<{ readonly state: EmergencyState; readonly stoppedTurnIds: readonly string[] }> {
    const { redactor, authenticated } = this.#options;
    if (!request.enabled && !authenticated) {
      throw new ServiceError("permission_denied", "This server runs without a token, so it cannot tell who asks.", {
        hint: "Lift the control with gennai emergency on this machine.",
      });
    }
    const reason = await redactor.redact(request.reason);
    const change = await this.#kept({ ...request, reason });
    const stoppedTurnIds = (await this.#applying.get(change)) ?? [];
    if (!change.effective) {
      throw new ServiceError(
        "failed_precondition",
        "Somebody else switched this control on at the same moment, so it stays on.",
        {
          hint: "Look at gennai emergency status, and try again if it may be lifted.",
        },
      );
    }
    return { state: change.state, stoppedTurnIds };
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  /** Rejects with `ServiceError` if it cannot be saved; running work is stopped anyway. */
  async #kept(request: EmergencyRequest): Promise<EmergencyChange> {
    const { store, stopWork, workspaceRoots, onError } = this.#options;
    const stopsAll = request.control === "stop-all" && request.enabled;
    const stopped = new Set<string>();
    const stop = async (): Promise<void> => {
      for (const turnId of await stopWork(`Stopped by ${request.by}: ${request.reason}`)) stopped.add(turnId);
    };
    // A log that does not respond fails only after a timeout.
    const early = stopsAll ? setTimeout(() => void stop().catch(onError), keepingTimeoutMs) : undefined;
    try {
      return await store.change(request, await workspaceRoots());
    } catch (error) {
      if (error instanceof ServiceError || !stopsAll) throw error;
      onError(error);
      await stop();
      throw new ServiceError(
        "unavailable",
        `The control could not be stored, so it is not on. Running work was stopped anyway (${stopped.size}).`,
        { hint: "New turns may start. Try again, or stop the server.", cause: error },
      );
    } finally {
      clearTimeout(early);
    }
  }

  /** Never rejects. */
  async #apply(change: EmergencyChange): Promise<readonly string[]> {
    const { store, announce, stopWork, workspaceRoots, onError } = this.#options;
    const announced = (change.effective ? announce(change) : Promise.resolve()).catch(onError);
    let stopped: readonly string[] = [];
    try {
      if (change.effective && change.state.stopAll) {
        stopped = await stopWork(`Stopped by ${change.by}: ${change.reason}`);
      }
      // The change may come from another process, which does not know this server's workspaces.
      store.record(change, await workspaceRoots());
    } catch (error) {
      onError(error);
    }
    await announced;
    return stopped;
  }
}
