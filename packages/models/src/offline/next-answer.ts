import type { ModelRequest } from "@gennai/agent/model";
import { scenarioPart } from "@gennai/agent/prompt/system-prompt";
import { planAnswerRule } from "@gennai/agent/scenarios/plan-scenario";
import { changeFiles, Proposal } from "./change-files.ts";
import { helpText, notUnderstoodText } from "./help-text.ts";
import { withIntent } from "./intent-handshake.ts";
import { findText, listDirectory, runCommand, runInTerminal, showFile } from "./look-and-run.ts";
import { parseRequest } from "./parse-request.ts";
import { failedPlan, planAnswer } from "./plan-answer.ts";
import { bullets, type StepReport } from "./report.ts";
import { describeStep, isChange, type Step } from "./request.ts";
import { noReply, type ToolRequest, toolReply, type Work } from "./tool-round.ts";

/** What the assistant says next: calls of tools, or its last word. */
type Answer =
  | { readonly type: "calls"; readonly thought: string; readonly calls: readonly ToolRequest[] }
  | { readonly type: "text"; readonly thought: string; readonly text: string };

/**
 * The next answer in a conversation. Stateless: the work for the latest user message is replayed from the beginning with the
 * results in the conversation, up to the first calls without one. Only the user's own text is a request: attachments, notes of
 * the server and tool results ask for nothing. Pure.
 */
export function nextAnswer({ messages, tools, system }: Pick<ModelRequest, "messages" | "tools" | "system">): Answer {
  const start = messages.findLastIndex((message) => message.role === "user");
  const request = messages[start];
  const parsed = parseRequest(request?.role === "user" ? request.text : "");
  const planning = scenarioPart(system).includes(planAnswerRule);
  if (parsed.type !== "steps") {
    const isHelp = parsed.type === "help";
    const thought = isHelp ? "The user asks what I understand." : "This is not in my language.";
    const text = isHelp ? helpText() : notUnderstoodText(parsed.clause, parsed.usage);
    return { type: "text", thought, text: planning ? failedPlan(text) : text };
  }
  const names = new Set(tools.map((tool) => tool.name));
  const { steps } = parsed;
  const work = planning ? planAnswer(steps, `plan-${start + 1}`) : withIntent(performSteps(steps, names));
  let next = work.next();
  for (const round of recordedRounds(messages.slice(start + 1))) {
    const planned = next.done === true ? "" : next.value.calls.map(({ name }) => name).join();
    if (planned !== round.names.join()) return { type: "text", thought: "", text: lostText };
    next = work.next(round.replies);
  }
  if (next.done === true) return { type: "text", thought: "That was all; summing up.", text: next.value };
  return { type: "calls", ...next.value };
}

const lostText =
  "I lost track: the conversation is not as I left it. I stop here; tool results above say what was done. Please ask again.";

function* performSteps(steps: readonly Step[], tools: ReadonlySet<string>): Work<string> {
  const proposes = tools.has("ProposeChanges") && !tools.has("Edit") && !tools.has("Write");
  const proposal = proposes ? new Proposal() : undefined;
  const texts: string[] = [];
  for (const [index, step] of steps.entries()) {
    const report = yield* performStep(step, tools, proposal);
    if (report.text !== "") texts.push(report.text);
    if (report.ok) continue;
    const skipped = steps.slice(index + 1).map(describeStep);
    if (skipped.length > 0) texts.push(`Not attempted after that:\n${bullets(skipped)}`);
    break;
  }
  const proposed = proposal === undefined ? undefined : yield* proposal.propose();
  if (proposed !== undefined) texts.push(proposed.text);
  return texts.join("\n\n");
}

function* performStep(step: Step, tools: ReadonlySet<string>, proposal: Proposal | undefined): Work<StepReport> {
  const needed = proposal !== undefined && isChange(step) ? ["Read", "Grep", "Glob"] : neededTools[step.kind];
  const missing = needed.filter((name) => !tools.has(name));
  if (missing.length > 0) {
    const text = `I cannot ${describeStep(step)}: this scenario does not offer ${missing.join(", ")}. Choose another scenario, e.g. CODE.`;
    return { ok: false, text };
  }
  if (isChange(step)) return yield* proposal?.add(step) ?? changeFiles(step);
  switch (step.kind) {
    case "find":
      return yield* findText(step);
    case "show":
      return yield* showFile(step);
    case "list":
      return yield* listDirectory(step);
    case "run":
    case "verify":
      return yield* runCommand(step);
    case "terminal":
      return yield* runInTerminal(step);
    case "say":
      return { ok: true, text: step.text };
  }
}

const neededTools: Readonly<Record<Step["kind"], readonly string[]>> = {
  replace: ["Read", "Grep", "Edit"],
  create: ["Glob", "Write"],
  append: ["Read", "Edit", "Write"],
  delete: ["Read", "Delete"],
  find: ["Grep"],
  show: ["Read"],
  list: ["LS"],
  run: ["Bash"],
  verify: ["Bash"],
  terminal: ["RunInTerminal"],
  say: [],
};

/** The answers with tool calls so far, each with what came back. */
function recordedRounds(messages: ModelRequest["messages"]) {
  return messages.flatMap((message, index) => {
    if (message.role !== "assistant" || message.toolCalls.length === 0) return [];
    const replies = message.toolCalls.map(({ id }) => {
      // Ids need only be unique within one answer: the next reply is the one.
      const reply = messages.slice(index).find((each) => each.role === "tool" && each.id === id);
      return reply?.role === "tool" ? toolReply(reply.output, reply.isError) : noReply;
    });
    return [{ names: message.toolCalls.map(({ name }) => name), replies }];
  });
}
