import type { ConfirmationQuestion, ConfirmationReply } from "@gennai/client/connection/editor";
import type { NoticeItem } from "@gennai/client/view/items/view-item";
import { SessionView } from "@gennai/client/view/session-view";
import type { TurnReport } from "@gennai/client/view/turn-report";
import { type ExitCode, exitCode } from "../terminal/exit-code.ts";
import { answerByCiPolicy, type CiPolicy } from "./ci-policy.ts";
import { type Refusal, refusalsOf } from "./refusals.ts";

/** How a run in a pipeline ended. */
export interface PipelineEnd {
  readonly code: ExitCode;
  readonly report: TurnReport;
}

/** Error codes of a turn that reached one of its limits. */
const limits: ReadonlySet<string> = new Set([
  "budget_exceeded",
  "iteration_limit",
  "tool_call_limit",
  "loop_detected",
  "repeated_refusal",
]);

/** A run without a person: it answers questions by policy, and gathers what is reported afterwards. */
export class Pipeline {
  readonly #policy: CiPolicy;
  readonly #workspace: string;
  #session = new SessionView();
  #end: PipelineEnd | undefined;

  /** @param workspace real path */
  constructor(policy: CiPolicy, workspace: string) {
    this.#policy = policy;
    this.#workspace = workspace;
  }

  get refusals(): readonly Refusal[] {
    return refusalsOf(this.#session, this.#workspace);
  }

  /** The turn's last error, for people; empty: none. */
  get problem(): string {
    return this.#error?.text ?? "";
  }

  /** undefined: the turn did not come to its end. */
  get end(): PipelineEnd | undefined {
    return this.#end;
  }

  answer(question: ConfirmationQuestion): ConfirmationReply {
    return answerByCiPolicy(this.#policy, question, this.#workspace);
  }

  /** @param session what the run comes to, as it goes on */
  watch(session: SessionView): void {
    this.#session = session;
  }

  /** Replaces the exit code of an ordinary run by the more exact one of a pipeline. */
  ended(report: TurnReport, code: ExitCode): ExitCode {
    const exact = this.#exact(report, code);
    this.#end = { report, code: exact };
    return exact;
  }

  #exact({ outcome, refused }: TurnReport, code: ExitCode): ExitCode {
    if (code === exitCode.interrupted) return code;
    const errorCode = this.#error?.code ?? "";
    if (outcome === "error" && limits.has(errorCode)) return exitCode.limit;
    if (outcome === "error" && errorCode.startsWith("model_")) return exitCode.model;
    if (outcome !== "completed" || code !== exitCode.refused) return outcome === "completed" ? code : exitCode.failed;
    // Refusals of tools that were not allowed later in the turn.
    const lasting = this.refusals.filter(({ tool }) => refused.includes(tool));
    return lasting.length > 0 && lasting.every(({ unanswered }) => unanswered) ? exitCode.unanswered : code;
  }

  get #error(): NoticeItem | undefined {
    return this.#session.cells
      .map(({ item }) => item.peek())
      .findLast((item): item is NoticeItem => item.kind === "notice" && item.level === "error");
  }
}
