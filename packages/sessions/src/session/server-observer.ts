import type { TurnEnd } from "@gennai/agent/loop/turn-loop";
import type { Model } from "@gennai/agent/model";
import { type GateObserver, unobservedGate } from "@gennai/governance/gate/decide/gate-observer";
import type { ModelSettings } from "@gennai/models/model-registry";
import type { SessionLog } from "@gennai/store/log/session-log";
import type { RequestObserver } from "../bridge/pending-requests.ts";

/** A turn that begins. */
export interface ObservedTurn {
  readonly sessionId: string;
  readonly turnId: string;
  readonly settings: ModelSettings;
}

/**
 * Observes the server. It gets names, numbers and outcomes, but no content. Each method returns what the wrapped work returns,
 * errors included: an observer never changes what the server does.
 */
export interface ServerObserver extends RequestObserver {
  readonly gate: GateObserver;
  /** Wraps a turn, from after its durable start to before its durable end. */
  turn(turn: ObservedTurn, run: () => Promise<TurnEnd>): Promise<TurnEnd>;
  /** Wraps a sub-agent, within the call that runs it. */
  subAgent(scenario: string, settings: ModelSettings, run: () => Promise<TurnEnd>): Promise<TurnEnd>;
  /** The same model, watched. */
  model(model: Model, settings: ModelSettings): Model;
  /** The same log, watched. */
  log(log: SessionLog): SessionLog;
  /** A request that was refused, by HTTP status. */
  refused(status: number): void;
}

/** Observes nothing. */
export const unobserved: ServerObserver = {
  gate: unobservedGate,
  turn: (_turn, run) => run(),
  subAgent: (_scenario, _settings, run) => run(),
  model: (model) => model,
  log: (log) => log,
  bridge: (_kind, run) => run(),
  refused: () => undefined,
};
