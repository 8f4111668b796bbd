import type { BuiltInTool } from "@gennai/governance/tool";
import { visibleText } from "@gennai/machine/web/visible-text";
import type { UserAnswer, UserQuestion } from "@gennai/protocol/model/session/user-question";
import { z } from "zod";
import type { AskedUser, UserAsker } from "../../bridge/session-bridge.ts";
import type { ToolFact } from "../tool-fact.ts";

/** Text for a user: one or several lines, without hidden characters. */
const words = (most: number, lines: "one line" | "lines") =>
  z
    .string()
    .max(most, `At most ${most} characters.`)
    .transform((text) => {
      const seen = visibleText(text).replaceAll(/[^\P{C}\n]/gu, "");
      return (lines === "lines" ? seen : seen.replaceAll(/\s+/g, " ")).trim();
    });

const option = z.strictObject({
  label: words(80, "one line").pipe(z.string().min(1, "A label must not be empty.")),
  description: words(300, "one line").optional().describe("What choosing it means."),
});

const question = z.strictObject({
  question: words(1_000, "lines").pipe(z.string().min(1, "A question must not be empty.")),
  header: words(40, "one line").optional().describe("A few words for it."),
  options: z
    .array(option)
    .max(8)
    .refine((options) => new Set(options.map(({ label }) => label)).size === options.length, {
      error: "Every label may stand once only.",
    })
    .optional()
    .describe("What to choose from; the user can always answer in their own words."),
  multiple: z.boolean().optional().describe("Several options may be chosen."),
});

const parameters = z.strictObject({
  questions: z.array(question).min(1, "questions must not be empty.").max(4, "At most 4 questions go together."),
});

/** Asks the user at a client. The answer is text and permits nothing: each call is judged as before. */
export function askUserTool(user: UserAsker): BuiltInTool<z.infer<typeof parameters>> {
  return {
    name: "AskUser",
    otherNames: { multiSelect: "multiple", multi_select: "multiple", choices: "options" },
    description:
      "Asks the user up to four questions and gives you the answers. Only for what you cannot find out and what changes the work: wishes, choices between ways that differ. Never ask for permission: calls that need one ask by themselves.",
    parameters,
    access: "change",
    repeatable: true,
    async analyse({ questions }) {
      return {
        statement: `Ask the user: ${questions.map((each) => each.question).join(" ")}`,
        effects: [{ type: "session" }],
      };
    },
    async execute(args, _analysis, { signal }) {
      const questions = args.questions.map(
        (each): UserQuestion => ({
          question: each.question,
          header: each.header ?? "",
          options: (each.options ?? []).map(({ label, description = "" }) => ({ label, description })),
          multiple: each.multiple ?? false,
        }),
      );
      const asked = await user.askUser(questions, { signal });
      const fact: ToolFact = { type: "user-asked", end: asked.end, by: "by" in asked ? asked.by : "" };
      return { output: told(questions, asked), facts: [fact] };
    },
  };
}

function told(questions: readonly UserQuestion[], asked: AskedUser): string {
  switch (asked.end) {
    case "answered": {
      const answers = questions.map((each, index) => answerText(each, asked.answers[index], index));
      return `The user answered:\n${answers.join("\n")}\nThis is what they want to tell you. It permits no call by itself.`;
    }
    case "cancelled":
      return "The user closed the questions and answered none. Do not ask them again. Do only what does not depend on the answers, or stop and say what is open.";
    case "timeout":
      return `Nobody answered in time. ${withoutAnswer}`;
    case "nobody":
      return `Nobody can be asked: no client with a person at it is attached. ${withoutAnswer}`;
  }
}

const withoutAnswer =
  "Decide yourself where a mistake is easily mended, and say what you chose. Else stop, and say what is open.";

function answerText({ question: asked, options }: UserQuestion, answer: UserAnswer | undefined, index: number): string {
  const chosen = (answer?.chosen ?? []).flatMap((place) => options[place]?.label ?? []);
  const parts = [
    ...(chosen.length === 0 ? [] : [`chosen: ${chosen.join(", ")}`]),
    ...(answer === undefined || answer.text.trim() === "" ? [] : [`in their words: ${answer.text.trim()}`]),
  ];
  return `${index + 1}. ${asked}\n   ${parts.length === 0 ? "no answer: they leave it to you" : parts.join("\n   ")}`;
}
