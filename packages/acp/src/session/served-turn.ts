import {
  methods,
  type PermissionOption,
  type RequestPermissionRequest,
  type StopReason,
} from "@agentclientprotocol/sdk";
import { newReview, reviewToApply } from "@gennai/client/host/review-state";
import type { AgentSession } from "@gennai/client/session/agent-session";
import { SessionPlans } from "@gennai/client/session-plans";
import { type TurnReport, turnReport } from "@gennai/client/view/turn-report";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import type { Proposal } from "@gennai/protocol/model/session/proposal";
import type { EditorPeer } from "../editor/acp-editor.ts";
import { unlessWithdrawn } from "../editor/withdrawn-request.ts";
import type { PromptContent } from "./prompt-content.ts";
import { decidePlan } from "./served-plan.ts";
import type { Mode } from "./session-modes.ts";
import { type ToldSession, wayOn } from "./told-session.ts";

export interface TurnPrompt extends PromptContent {
  /** Empty: the default of the mode. */
  readonly scenario: string;
  /** Of the turn that is gone on with, in place of a text. */
  readonly continues?: string;
  /** What a branch is for that the first write begins. */
  readonly branchTask?: string;
}

const cancelReason = "Stopped by the user in the editor.";

/** A prompt that is being answered, from the question before its turn to the decision after it. */
export class ServedTurn {
  readonly #view: ToldSession;
  /** Aborts what is no turn of the server's: a question before it or after it. */
  readonly #stop = new AbortController();
  #turnId = "";

  constructor(view: ToldSession) {
    this.#view = view;
  }

  get stopped(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Of the stop, and of the editor's leaving. */
  get signal(): AbortSignal {
    return AbortSignal.any([this.#view.place.signal, this.#stop.signal]);
  }

  /** `run` gives the end when the server says that it has stopped. */
  async cancel(): Promise<void> {
    this.#stop.abort();
    const { session, place } = this.#view;
    if (this.#turnId !== "") await session.cancelTurn(this.#turnId, cancelReason, place);
  }

  async run(prompt: TurnPrompt, mode: Mode): Promise<StopReason> {
    return mode.id === "plan" ? this.#plan(prompt, mode) : (await this.#turn(prompt, mode)).end;
  }

  /** The envelope that the model writes is for the server; the person sees the plan. */
  async #plan(prompt: TurnPrompt, mode: Mode): Promise<StopReason> {
    const isShown = ({ event }: InvokeEvent) => event.case !== "assistantDelta" && event.case !== "final";
    const { end, report } = await this.#turn(prompt, mode, isShown);
    if (end !== "end_turn") return end;
    const { place, session } = this.#view;
    try {
      await decidePlan(report.text, {
        plans: new SessionPlans(place.plans, session.sessionId),
        editor: place.editor,
        signal: this.signal,
        tell: (updates) => this.#view.tell(updates),
        say: (text) => this.#view.say(text),
        attended: (work) => this.#attended(work),
      });
    } catch (error) {
      if (!this.stopped) throw error;
    }
    return this.stopped ? "cancelled" : "end_turn";
  }

  /** Tells what happens in the session while something is done there, and answers what is asked. */
  async #attended<Value>(work: () => Promise<Value>): Promise<Value> {
    const { session, place } = this.#view;
    const { signal } = place;
    const stopIt = (): void => void session.stop("session", cancelReason, { signal }).catch(() => undefined);
    this.#stop.signal.addEventListener("abort", stopIt, { once: true });
    const updates = this.#view.updates({ withPrompts: false });
    try {
      return await session.whileAttached(
        () => {
          this.#stop.signal.throwIfAborted();
          return work();
        },
        {
          signal,
          onEvent: async (event) => this.#view.tell(await updates.of(event)),
          onBroken: () => undefined,
        },
      );
    } finally {
      this.#stop.signal.removeEventListener("abort", stopIt);
    }
  }

  /** @param shows false for an event that the person does not see */
  async #turn(
    prompt: TurnPrompt,
    mode: Mode,
    shows: (event: InvokeEvent) => boolean = () => true,
  ): Promise<{ readonly end: StopReason; readonly report: TurnReport }> {
    const { session, place } = this.#view;
    const updates = this.#view.updates({ withPrompts: false });
    const events = session.runTurn(
      { ...prompt, enableThinking: true },
      {
        signal: place.signal,
        maxAttempts: 20,
        onStart: ({ turnId }) => {
          this.#turnId = turnId;
          if (this.stopped) session.cancelTurn(turnId, cancelReason, place).catch(() => undefined);
        },
      },
    );
    for await (const event of events) {
      const told = await updates.of(event);
      if (shows(event)) await this.#view.tell(told);
    }
    const report = turnReport(updates.session, this.#turnId);
    return { report, end: await this.#ended(report, mode) };
  }

  async #ended({ outcome, proposals, cutOff }: TurnReport, mode: Mode): Promise<StopReason> {
    if (outcome === "cancelled" || this.signal.aborted) return "cancelled";
    if (cutOff !== undefined) await this.#view.say(wayOn);
    // Nothing is kept in a mode that only reads, whatever a project's scenario proposed.
    if (mode.id !== "read-only") await this.#decide(proposals);
    if (this.stopped) return "cancelled";
    return outcome === "completed" ? "end_turn" : "refusal";
  }

  /** A proposal that is not decided because of a stop stays open. */
  async #decide(proposals: readonly Proposal[]): Promise<void> {
    const { session, place } = this.#view;
    const { editor, signal } = place;
    try {
      for (const proposal of proposals) {
        await this.#view.say(`\n\n${await decideProposal(proposal, { session, editor, signal }, this.signal)}`);
      }
    } catch (error) {
      if (!this.stopped) throw error;
    }
  }
}

/** Answers for an editor without its own review: all of a proposal, or nothing. Other clients decide by hunk. */
const proposalOptions = [
  { optionId: "keep", name: "Keep all changes", kind: "allow_once" },
  { optionId: "undo", name: "Keep none", kind: "reject_once" },
] as const satisfies readonly PermissionOption[];

/** Asks the editor's user, and carries out what is said. @param asking aborts the question, and no more @returns what to tell them */
async function decideProposal(
  proposal: Proposal,
  {
    session,
    editor,
    signal,
  }: { readonly session: AgentSession; readonly editor: EditorPeer; readonly signal: AbortSignal },
  asking: AbortSignal,
): Promise<string> {
  const files = proposal.changes.map(({ path }) => spelledOut(path)).join(", ");
  const question: RequestPermissionRequest = {
    sessionId: session.sessionId,
    toolCall: { toolCallId: proposal.toolCallId, title: `Write the proposed changes: ${files}` },
    options: [...proposalOptions],
  };
  const { outcome } = await unlessWithdrawn(
    editor.request(methods.client.session.requestPermission, question, { cancellationSignal: asking }),
    asking,
  );
  const decision =
    outcome.outcome === "selected" ? proposalOptions.find(({ optionId }) => optionId === outcome.optionId) : undefined;
  if (decision === undefined) return "The proposal stays open. Nothing was written.";
  const { proposalId, changes } = proposal;
  const review = reviewToApply(newReview(proposalId), proposal, session.sessionId, decision.optionId);
  const apply = () => session.applyProposal({ ...review, changes }, { signal });
  const { files: written } = await session.whileAttached(apply, { signal });
  if (written.length === 0) return "Nothing was written.";
  return spelledOut(`Written: ${written.map(({ path }) => path).join(", ")}`);
}
