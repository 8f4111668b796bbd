import type { Answer, Question } from "@gennai/governance/confirmation";
import { RememberedAnswers } from "@gennai/governance/gate/confirm/remembered-answers";
import { canonicalJson } from "@gennai/protocol/canonical-json";
import { isAtLeast, type Risk } from "@gennai/protocol/model/governance/risk";
import * as z from "zod";

/** The only call that the approval covers at this moment. */
export interface ApprovedCall {
  readonly callId: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** What the call depended on when the plan was previewed; undefined: only its arguments. */
  readonly seen: SeenCall | undefined;
  /** Operands that the run itself has changed since; `anything` after one of its own commands. */
  readonly changed: ReadonlySet<string> | "anything";
}

/** What a call touches and depends on besides its arguments, see `Question.computed` and `Analysis.operands`. */
export interface SeenCall {
  readonly paths: readonly string[];
  readonly operands: Readonly<Record<string, string>>;
}

/**
 * A plan's approval as an answer to the gate's questions: yes to exactly the action in the plan, and to no other. Never to high
 * risk, which needs its own question; nor, if the approval came without a credential, to a command that is not isolated from
 * the machine.
 */
export class PlanAnswers extends RememberedAnswers {
  readonly #by: string;
  readonly #commandsAskAgain: boolean;
  #approved: ApprovedCall | undefined;

  constructor(options: { readonly by: string; readonly commandsAskAgain: boolean }) {
    super();
    this.#by = options.by;
    this.#commandsAskAgain = options.commandsAskAgain;
  }

  /** Whether a call that the rules ask about is asked about again although the plan was approved. */
  asksAgain({ tool, risk }: { readonly tool: string; readonly risk: Risk }): boolean {
    return isAtLeast(risk, "high") || (this.#commandsAskAgain && tool === "Bash");
  }

  /** From now on, only this call is approved. */
  expect(call: ApprovedCall): void {
    this.#approved = call;
  }

  override find(question: Question): (Answer & { readonly type: "yes" }) | undefined {
    const approved = this.#approved;
    if (approved === undefined) return undefined;
    if (question.callId !== approved.callId || question.toolName !== approved.tool) return undefined;
    if (this.asksAgain({ tool: question.toolName, risk: question.computed.risk })) return undefined;
    const asked = askedAction.safeParse(JSON.parse(question.actionJson));
    if (!asked.success) return undefined;
    const { operands = {}, ...action } = asked.data;
    const paths = approved.seen?.paths ?? action.paths;
    if (canonicalJson({ tool: approved.tool, arguments: approved.args, paths }) !== canonicalJson(action))
      return undefined;
    if (approved.seen !== undefined && !restsOnTheSame(approved.seen.operands, operands, approved.changed))
      return undefined;
    return { type: "yes", scope: "once", by: this.#by };
  }

  /** Answers given during a run hold for that one action. */
  override remember(): void {}
}

/** As written by `buildQuestion`. With any additional member, the approval does not count. */
const askedAction = z.looseObject({
  paths: z.array(z.string()),
  operands: z.record(z.string(), z.string()).optional(),
});

function restsOnTheSame(
  seen: SeenCall["operands"],
  now: SeenCall["operands"],
  changed: ApprovedCall["changed"],
): boolean {
  if (changed === "anything") return true;
  const names = new Set([...Object.keys(seen), ...Object.keys(now)]);
  return [...names].every((name) => changed.has(name) || seen[name] === now[name]);
}
