import { spelledOut } from "@gennai/protocol/hidden-characters";
import {
  maxAnswerText,
  type UserAnswer,
  type UserQuestion,
  type UserReply,
} from "@gennai/protocol/model/session/user-question";
import type { Paint } from "../terminal/colours.ts";
import type { LineInput } from "../terminal/line-input.ts";

/** A terminal at which a person is asked. */
export interface AskOptions {
  readonly input: Pick<LineInput, "question">;
  readonly write: (text: string) => void;
  readonly paint: Paint;
  readonly signal: AbortSignal;
}

/** Puts the model's questions to the person at the terminal, one after the other. An empty line leaves a question to the model. */
export async function askUserAtTerminal(questions: readonly UserQuestion[], options: AskOptions): Promise<UserReply> {
  const { write, paint } = options;
  const answers: UserAnswer[] = [];
  for (const question of questions) {
    write(`\n${described(question, paint)}`);
    const answer = await answerTo(question, options);
    if (answer === undefined) return { end: "cancelled" };
    answers.push(answer);
  }
  return { end: "answered", answers };
}

/** Asks until the server would take the answer; undefined when the person gives none. */
async function answerTo(question: UserQuestion, { input, write, signal }: AskOptions): Promise<UserAnswer | undefined> {
  for (;;) {
    const line = await input.question(prompt(question), { signal });
    if (line === undefined || line.trim() === "/cancel") return undefined;
    const answer = readUserAnswer(line, question);
    const { length } = answer.text;
    if (length <= maxAnswerText) return answer;
    write(`An answer has at most ${inGroups(maxAnswerText)} characters; this one has ${inGroups(length)}.\n`);
  }
}

function inGroups(count: number): string {
  return count.toLocaleString("en");
}

/** Numbers of options are choices; anything else is an answer in own words. */
export function readUserAnswer(line: string, { options, multiple }: UserQuestion): UserAnswer {
  const text = line.trim();
  const numbers = /^\d+(?:[\s,]+\d+)*$/.test(text) ? text.split(/[\s,]+/).map((word) => Number(word) - 1) : [];
  const chosen = [...new Set(numbers)];
  const fits = chosen.every((place) => place >= 0 && place < options.length) && (multiple || chosen.length <= 1);
  return chosen.length > 0 && fits ? { chosen, text: "" } : { chosen: [], text };
}

function described({ question, header, options }: UserQuestion, paint: Paint): string {
  const lines = [
    `${paint("bold", "The model asks")}${header === "" ? "" : paint("dim", `  ${spelledOut(header)}`)}`,
    ...question.split("\n").map((line) => `  ${spelledOut(line)}`),
    ...options.map(({ label, description }, index) => {
      const meaning = description === "" ? "" : paint("dim", `  ${spelledOut(description)}`);
      return `  ${index + 1}  ${spelledOut(label)}${meaning}`;
    }),
  ];
  return `${lines.join("\n")}\n`;
}

function prompt({ options, multiple }: UserQuestion): string {
  const numbers = options.length === 0 ? [] : [multiple ? "numbers" : "a number"];
  return `${[...numbers, "your own words", "Enter to leave it to the model", "/cancel"].join(" · ")} > `;
}
