import { spelledOut } from "@gennai/protocol/hidden-characters";
import { maxAnswerText, type UserAnswer, type UserQuestion } from "@gennai/protocol/model/session/user-question";
import { readUserAnswer } from "../../../client/ask-user-at-terminal.ts";
import type { Paint } from "../../../terminal/colours.ts";
import { terminalSafe } from "../../../terminal/terminal-safe.ts";
import { edged, type Panel } from "./panel.ts";

/** A question of this program that a line answers. */
export function linePanel(prompt: string): Panel<string> {
  return {
    subject: prompt,
    lines: () => [terminalSafe(prompt)],
    choices: () => undefined,
    key: () => ({ type: "none" }),
    line: { mark: "?", read: (text) => text },
  };
}

/** A question of the model: a number chooses, anything else is an answer in own words. */
export function userQuestionPanel(question: UserQuestion, paint: Paint): Panel<UserAnswer> {
  const { header, options, multiple } = question;
  const edge = paint("magenta", "┃");
  let problem = "";
  const hint = [
    ...(options.length === 0 ? [] : [multiple ? "numbers" : "a number"]),
    "your own words",
    "nothing leaves it to the model",
  ];
  return {
    subject: header === "" ? "The model asks you something." : header,
    lines: (width) =>
      edged(
        [
          `${paint("bold", "The model asks")}${header === "" ? "" : paint("dim", `  ${spelledOut(header)}`)}`,
          ...question.question.split("\n").map(spelledOut),
          ...options.map(({ label, description }, index) => {
            const meaning = description === "" ? "" : paint("dim", `  ${spelledOut(description)}`);
            return `${paint("cyan", String(index + 1))} ${spelledOut(label)}${meaning}`;
          }),
          paint("dim", `${hint.join(" · ")} · Enter`),
          ...(problem === "" ? [] : [paint("yellow", problem)]),
        ],
        edge,
        width,
      ),
    choices: () => undefined,
    key: () => ({ type: "none" }),
    line: {
      mark: "?",
      read: (text) => {
        const answer = readUserAnswer(text, question);
        if (answer.text.length <= maxAnswerText) return answer;
        problem = `An answer has at most ${maxAnswerText} characters; this one has ${answer.text.length}.`;
        return undefined;
      },
    },
  };
}
