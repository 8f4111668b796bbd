import { runProblem } from "@gennai/client/plan-guard";
import type { AgentSession } from "@gennai/client/session/agent-session";
import { turnAnswer } from "@gennai/client/session/watched-turn";
import { envelopeWords, SessionPlans } from "@gennai/client/session-plans";
import { type Plan, planScenarioName } from "@gennai/protocol/model/governance/plan";
import { issueLine } from "@gennai/protocol/plan-correction";
import * as vscode from "vscode";
import { editorContext } from "../documents/editor-context.ts";
import { reasonOf } from "../editor/editor-error.ts";
import { askModally, showError, showInformation, showProgress, showWarning } from "../editor/notifications.ts";
import { looksLikePlan } from "../review/looks-like-plan.ts";
import type { Command, Workbench } from "./workbench.ts";

const callTimeoutMs = 30_000;
const activeTextLimit = 60_000;
const runTimeoutMs = 60 * 60 * 1000;

export const openPanel: Command = async ({ views }) => {
  await views.reveal();
  views.ask({ type: "show-panel", panel: "plan" });
};

/** Has the model write a plan for what the user says about the active editor; the server stores it. Nothing runs. */
export const plan: Command = async (workbench, [before]) => {
  const shown = editorContext(workbench.root);
  const context = shown.activeFile === undefined ? shown : { ...shown, activeText: activeText() };
  const goal = await vscode.window.showInputBox({
    title: "Plan",
    value: typeof before === "string" ? before : "",
    prompt:
      context.activeFile === undefined
        ? "What should the plan do?"
        : `What should the plan do? It starts from ${context.activeFile}.`,
    ignoreFocusOut: true,
  });
  if (goal === undefined || goal.trim() === "") return;
  const session = await workbench.session();
  await openPanel(workbench, []);
  const writing = showProgress(
    { location: vscode.ProgressLocation.Notification, title: "Gennai writes a plan", cancellable: true },
    async (_report, cancel) => {
      const stop = new AbortController();
      cancel.onCancellationRequested(() => stop.abort());
      const request = { text: goal, context, scenario: planScenarioName, enableThinking: true };
      const answer = await turnAnswer(session, request, {
        as: "plan",
        signal: stop.signal,
        onAbort: "cancel",
      });
      if (answer !== undefined) await submit(workbench, session, answer);
    },
  );
  await writing.catch(async (error: unknown) => {
    const choice = await showError(`No plan was written: ${reasonOf(error)}`, "Change Goal…");
    if (choice !== undefined) await plan(workbench, [goal]);
  });
};

/** Previews the plan in the active editor, else the newest of the session. */
export const preview: Command = async (workbench) => {
  const session = await workbench.session();
  const plans = await plansOf(workbench, session);
  const text = vscode.window.activeTextEditor?.document.getText() ?? "";
  const held = looksLikePlan(text) ? await submit(workbench, session, text) : await newestPlan(plans);
  if (held === undefined) return;
  const { plan: previewed, actions } = await plans.preview(held.planId, { signal: AbortSignal.timeout(callTimeoutMs) });
  await openPanel(workbench, []);
  const denied = actions.filter(({ verdict }) => verdict === "deny");
  if (denied.length > 0) {
    void showWarning(
      `The rules deny ${denied.length} of ${actions.length} actions of “${previewed.title}”: ${denied[0]?.reason ?? ""}`,
    );
  }
  const unfit = actions.find(({ change }) => change?.conflict === true);
  if (denied.length === 0 && unfit !== undefined && previewed.state === "preview") {
    void showWarning(
      `“${previewed.title}” cannot be approved: ${unfit.change?.warning ?? ""} Submit a plan that fits the files as they are now.`,
    );
  }
};

export const approve: Command = async (workbench) => {
  const session = await workbench.session();
  const plans = await plansOf(workbench, session);
  const held = await newestPlan(plans);
  if (held === undefined) return;
  await openPanel(workbench, []);
  const steps = held.steps.map(({ title, risk }, index) => `${index + 1}. ${title} (${risk} risk)`).join("\n");
  const choice = await askModally(`Approve “${held.title}”?`, `${steps}\n\nDigest ${held.digest}`, "Approve");
  if (choice !== "Approve") return;
  const { expires } = await plans.approve(held.planId, held.digest, { signal: AbortSignal.timeout(callTimeoutMs) });
  const until = expires === undefined ? "" : ` until ${expires.toLocaleTimeString()}`;
  const next = await showInformation(`Approved${until}.`, "Execute");
  if (next === "Execute") await execute(workbench, []);
};

export const execute: Command = (workbench) => run("execute", workbench);

export const verify: Command = (workbench) => run("verify", workbench);

async function run(action: "execute" | "verify", workbench: Workbench): Promise<void> {
  const session = await workbench.session();
  const plans = await plansOf(workbench, session);
  const held = await newestPlan(plans);
  if (held === undefined) return;
  const tokens = workbench.approvals.of(held.planId);
  const problem = runProblem(action, held, { ...tokens, now: Date.now() });
  if (problem !== undefined) throw new Error(problem);
  const token = (action === "execute" ? tokens.approval : tokens.run)?.token ?? "";
  await openPanel(workbench, []);
  const title = action === "execute" ? `Executing “${held.title}”` : `Verifying “${held.title}”`;
  const ended = await showProgress(
    { location: vscode.ProgressLocation.Notification, title, cancellable: true },
    async (_report, cancel) => {
      cancel.onCancellationRequested(
        () => void session.stop("session", "cancelled", { signal: AbortSignal.timeout(callTimeoutMs) }),
      );
      const signal = AbortSignal.timeout(runTimeoutMs);
      return action === "execute"
        ? plans.execute(held.planId, held.digest, token, { signal })
        : (await plans.verify(held.planId, held.digest, token, { signal })).plan;
    },
  );
  const words = `“${ended.title}”: ${ended.state.replaceAll("_", " ")}. ${ended.remediation}`.trim();
  if (ended.state === "done") void showInformation(words);
  else if (ended.state !== "verifying") void showWarning(words);
  else if ((await showInformation(words, "Verify")) === "Verify") await verify(workbench, []);
}

async function plansOf(workbench: Workbench, session: AgentSession): Promise<SessionPlans> {
  return new SessionPlans((await workbench.connect()).plans, session.sessionId);
}

async function newestPlan(plans: SessionPlans): Promise<Plan | undefined> {
  const [newest] = await plans.list({ signal: AbortSignal.timeout(callTimeoutMs) });
  if (newest === undefined) {
    const choice = await showInformation("This session has no plan yet.", "Plan…");
    if (choice !== undefined) await vscode.commands.executeCommand("gennai.plan");
  }
  return newest;
}

async function submit(workbench: Workbench, session: AgentSession, text: string): Promise<Plan | undefined> {
  const plans = await plansOf(workbench, session);
  const { plan: held, issues, envelopeKind } = await plans.submit(text, { signal: AbortSignal.timeout(callTimeoutMs) });
  if (held !== undefined) return held;
  if (envelopeKind === "chat") {
    void showInformation("The model answered in words instead of a plan: the REPL shows them.");
    return undefined;
  }
  if (envelopeKind === "error" && issues.length === 0) throw new Error(envelopeWords(text));
  const first = issues[0];
  const details = issues.map((issue) => `${issue.level}  ${issueLine(issue)}`).join("\n");
  const choice = await showError(
    `This is not a valid plan${first === undefined ? "." : `: ${issueLine(first)}`}`,
    "Show All Issues",
    "Copy Details",
  );
  if (choice === "Copy Details") await vscode.env.clipboard.writeText(details);
  if (choice === "Show All Issues") {
    await vscode.window.showTextDocument(workbench.documents.add("plan-issues.txt", `${details}\n\n${text}`));
  }
  return undefined;
}

/** The text of the active file, unsaved changes included. */
function activeText(): string {
  return vscode.window.activeTextEditor?.document.getText().slice(0, activeTextLimit) ?? "";
}
