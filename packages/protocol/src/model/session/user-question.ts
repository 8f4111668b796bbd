import { UserQuestionEnd } from "../../gen/gennai/agent/v1/agent_pb.ts";
import { InvalidField } from "../checked-field.ts";

/** What a model asks a person. */
export interface UserQuestion {
  readonly question: string;
  /** A few words; may be empty. */
  readonly header: string;
  /** May be none; an answer in own words is always taken. */
  readonly options: readonly { readonly label: string; readonly description: string }[];
  /** Several options may be chosen. */
  readonly multiple: boolean;
}

/** Nothing chosen and no text: the person leaves it to the model. */
export interface UserAnswer {
  /** Places of options, from 0. */
  readonly chosen: readonly number[];
  readonly text: string;
}

export type UserReply =
  | { readonly end: "answered"; readonly answers: readonly UserAnswer[] }
  /** `nobody`: there was nobody before the client that was asked. */
  | { readonly end: "cancelled" | "nobody" };

/** Characters of one answer. */
export const maxAnswerText = 10_000;

/** Whether a reply is one to these questions: an answer to each, of options that there are. */
export function fitsQuestions(questions: readonly UserQuestion[], reply: UserReply): boolean {
  if (reply.end !== "answered") return true;
  return (
    reply.answers.length === questions.length &&
    reply.answers.every(({ chosen }, index) => {
      const { options = [], multiple = false } = questions[index] ?? {};
      return (
        chosen.length <= (multiple ? options.length : 1) &&
        new Set(chosen).size === chosen.length &&
        chosen.every((place) => place < options.length)
      );
    })
  );
}

/** The fields of a `UserQuestionResponse`. */
export function replyToMessage(reply: UserReply) {
  if (reply.end === "answered") {
    const answers = reply.answers.map(({ chosen, text }) => ({ chosen: [...chosen], text }));
    return { end: UserQuestionEnd.ANSWERED, answers };
  }
  return { end: reply.end === "nobody" ? UserQuestionEnd.NOBODY : UserQuestionEnd.CANCELLED };
}

/** Throws `InvalidField`. Anything but a clear answer counts as no answer. */
export function replyFromMessage(message: {
  readonly end: UserQuestionEnd;
  readonly answers: readonly { readonly chosen: readonly number[]; readonly text: string }[];
}): UserReply {
  if (message.end === UserQuestionEnd.NOBODY) return { end: "nobody" };
  if (message.end !== UserQuestionEnd.ANSWERED) return { end: "cancelled" };
  const answers = message.answers.map(({ chosen, text }) => {
    if (text.length > maxAnswerText) throw new InvalidField(`An answer has at most ${maxAnswerText} characters.`);
    return { chosen: [...chosen], text };
  });
  return { end: "answered", answers };
}
