import type { ConfirmationScope } from "@gennai/protocol/model/governance/question";
import { isAtLeast } from "@gennai/protocol/model/governance/risk";
import type { Answer, Question } from "../../confirmation.ts";
import type { ActionFacts } from "./action-facts.ts";
import { type AnswerPattern, type AnswerScope, covers } from "./answer-pattern.ts";
import type { StandingConnection } from "./lasting-connections.ts";

/** How many earlier calls of a session are kept to run patterns dry against. */
const maxEarlier = 200;

type Yes = Answer & { readonly type: "yes" };

interface RememberedYes {
  readonly scope: "turn" | "session";
  readonly turnId: string;
  /** The call whose question was answered. */
  readonly callId: string;
}

interface RememberedPattern extends RememberedYes {
  readonly pattern: AnswerPattern;
}

/**
 * A session's remembered yes answers. Each holds for the exact action, rule and rules in force it was given for, or for a
 * pattern that was chosen; and never for high risk.
 */
export class RememberedAnswers {
  readonly #exact = new Map<string, RememberedYes>();
  #patterns: readonly RememberedPattern[] = [];
  #earlier: readonly ActionFacts[] = [];
  readonly #connections = new Map<string, readonly StandingConnection[]>();

  /** @param pattern in place of the exact action */
  remember(question: Question, scope: Exclude<ConfirmationScope, "workspace">, pattern?: AnswerPattern): void {
    if (isAtLeast(question.computed.risk, "high") || scope === "once" || !question.offeredScopes.includes(scope))
      return;
    const yes = { scope, turnId: question.turnId, callId: question.callId };
    if (pattern === undefined) this.#exact.set(keyOf(question), yes);
    else this.#patterns = [...this.#patterns.filter((each) => each.pattern.id !== pattern.id), { ...yes, pattern }];
  }

  /** @param action what is asked about, for patterns; without it, only the exact action is searched */
  find(question: Question, action?: { readonly facts: ActionFacts; readonly place: AnswerScope }): Yes | undefined {
    if (isAtLeast(question.computed.risk, "high")) return undefined;
    const holds = (yes: RememberedYes): boolean => yes.scope === "session" || yes.turnId === question.turnId;
    const exact = this.#exact.get(keyOf(question));
    if (exact !== undefined && holds(exact)) return remembered(exact, undefined);
    if (action === undefined) return undefined;
    const found = this.#patterns.find((each) => holds(each) && covers(each.pattern, action.facts, action.place));
    return found === undefined ? undefined : remembered(found, found.pattern.text);
  }

  /** @param program with its verb */
  rememberConnections(program: string, connections: readonly StandingConnection[]): void {
    this.#connections.set(program, [...this.connections(program), ...connections]);
  }

  /** What a program may reach in this session. */
  connections(program: string): readonly StandingConnection[] {
    return this.#connections.get(program) ?? [];
  }

  /** Notes a call that was decided. */
  saw(facts: ActionFacts): void {
    this.#earlier = [...this.#earlier.slice(1 - maxEarlier), facts];
  }

  /** Calls of this session that were decided before, oldest first. */
  get earlier(): readonly ActionFacts[] {
    return this.#earlier;
  }

  forget(): void {
    this.#exact.clear();
    this.#patterns = [];
    this.#connections.clear();
  }
}

function remembered({ scope, callId }: RememberedYes, pattern: string | undefined): Yes {
  return {
    type: "yes",
    scope,
    by: "remembered",
    remembered: { callId, ...(pattern === undefined ? {} : { pattern }) },
  };
}

/** Another rule that asks about the same action asks something else, and so do other rules in force. */
function keyOf({ actionSha256, computed }: Question): string {
  return `${actionSha256} ${computed.policySha256} ${computed.rule}`;
}
